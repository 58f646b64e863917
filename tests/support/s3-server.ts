import { buildApp } from 'fauxqs';

// The S3 server as a separate process. It says its port once it listens; it keeps everything in memory.

const app = buildApp({ logger: false });
await app.listen({ port: 0, host: '127.0.0.1' });
const address = app.server.address();
if (address === null || typeof address === 'string') throw new Error('It has no port.');
process.stdout.write(`${address.port}\n`);
