import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../src/ops/torture/free-port.ts';
import { eventually } from './eventually.ts';

/** The program, as REDIS_SERVER or PATH name it; null where there is none. */
export const REDIS_SERVER: string | null = process.env.REDIS_SERVER ?? Bun.which('redis-server');

/** A Redis of one test's own. */
export interface Redis extends AsyncDisposable {
  readonly url: string;
  /** Stops it as a crash would; it forgets everything. */
  kill(): Promise<void>;
}

/** Starts one on a port, and waits until it answers. */
export async function startRedis(givenPort?: number): Promise<Redis & { readonly port: number }> {
  if (REDIS_SERVER === null) throw new Error('There is no redis-server.');
  const port = givenPort ?? (await freePort());
  const folder = mkdtempSync(join(tmpdir(), 'posthorn-redis-'));
  const words = [
    '--port',
    `${port}`,
    '--bind',
    '127.0.0.1',
    '--save',
    '',
    '--appendonly',
    'no',
    '--dir',
    folder,
  ];
  const child = Bun.spawn([REDIS_SERVER, ...words], { stdout: 'ignore', stderr: 'ignore' });
  const kill = async (): Promise<void> => {
    child.kill('SIGKILL');
    await child.exited;
    rmSync(folder, { recursive: true, force: true });
  };
  const url = `redis://127.0.0.1:${port}`;
  await eventually('Redis answers', async () => {
    if (child.exitCode !== null) throw new Error(`redis-server ended with ${child.exitCode}`);
    using socket = await connected(port);
    return socket !== null || undefined;
  });
  return { url, port, kill, [Symbol.asyncDispose]: kill };
}

/** A connection that has got an answer; null while there is none. */
async function connected(port: number): Promise<Disposable | null> {
  const answered = Promise.withResolvers<boolean>();
  const socket = await Bun.connect({
    hostname: '127.0.0.1',
    port,
    socket: {
      open: (open) => void open.write('PING\r\n'),
      data: (_, bytes) => answered.resolve(bytes.toString().startsWith('+PONG')),
      close: () => answered.resolve(false),
    },
  }).catch(() => null);
  if (!socket) return null;
  const isThere = await answered.promise;
  socket.end();
  return isThere ? { [Symbol.dispose]() {} } : null;
}
