#!/bin/sh
# bun 1.4.5 (npm): Bun.serve beside its node:http.
#
# Guess: a client that sends its second request before it has the first answer (RFC 9112 9.3.2) gets both answers in order, or an
#        error for the second.
# Seen:  where the handler of Bun.serve is asynchronous it runs for the first request, and the connection closes without any answer.
#        node:http in the same program answers both. A handler that answers at once is not affected.
set -eu
cd "$(mktemp -d)"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund bun@1.4.5
cat > see.ts <<'TS'
import { createServer } from 'node:http';
let handled = 0;
const wait = () => new Promise((resolve) => setTimeout(resolve, 50));
const node = createServer(async (_request, response) => {
  handled++;
  await wait();
  response.end('done');
}).listen(0, '127.0.0.1');
await new Promise((resolve) => node.once('listening', resolve));
const bun = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  fetch: async () => {
    handled++;
    await wait();
    return new Response('done');
  },
});
for (const [name, port] of [['node:http', node.address().port], ['Bun.serve', bun.port]]) {
  handled = 0;
  let answer = '';
  const closed = Promise.withResolvers();
  const socket = await Bun.connect({
    hostname: '127.0.0.1',
    port,
    socket: { data: (_socket, data) => void (answer += data), close: () => closed.resolve() },
  });
  socket.write('GET /1 HTTP/1.1\r\nHost: a\r\n\r\nGET /2 HTTP/1.1\r\nHost: a\r\n\r\n');
  setTimeout(() => socket.end(), 500);
  await closed.promise;
  console.log(`${name}: ${handled} handled, ${answer.split('HTTP/1.1 200').length - 1} answered`);
}
process.exit();
TS
npx bun see.ts | tee seen
grep -qx 'node:http: 2 handled, 2 answered' seen
grep -qx 'Bun.serve: 1 handled, 0 answered' seen
echo 'As expected.'
