#!/bin/sh
# Bun 1.4.5 (npm) beside Node, `fetch`.
#
# Guess: `fetch(url, { method: 'POST', body: 'a text' })` says `Content-Type: text/plain;charset=UTF-8` (Fetch Standard, "extract a body"), and a
#        `Host` in its headers is left out, or is sent by both.
# Seen:  Bun sends a text without any type, and its `Request` has none either: a receiver that goes by the type, such as express.text(), has
#        no body. A form has its type. Bun sends the Host that was asked for; Node sends its own, without an error.
set -eu
cd "$(mktemp -d)"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund bun@1.4.5
cat > see.mjs <<'JS'
import { createServer } from 'node:http';
const server = createServer((request, response) => {
  request.resume();
  response.end(`${request.headers['content-type'] ?? 'no type'}, ${request.headers.host.replace(/^127.*/, 'own host')}`);
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const url = `http://127.0.0.1:${server.address().port}/`;
const name = process.versions.bun ? 'bun' : 'node';
const init = { method: 'POST', body: 'a text', headers: { Host: 'other.example' } };
console.log(`${name}, fetch: ${await (await fetch(url, init)).text()}`);
const request = new Request(url, init);
console.log(`${name}, Request: ${request.headers.get('content-type')}`);
console.log(`${name}, fetch of it: ${await (await fetch(request)).text()}`);
console.log(`${name}, form: ${await (await fetch(url, { ...init, body: new URLSearchParams({ a: '1' }) })).text()}`);
server.closeAllConnections();
server.close();
JS
{ node --no-warnings see.mjs; node_modules/.bin/bun see.mjs; } | tee seen
cat > expected <<'TEXT'
node, fetch: text/plain;charset=UTF-8, own host
node, Request: text/plain;charset=UTF-8
node, fetch of it: text/plain;charset=UTF-8, own host
node, form: application/x-www-form-urlencoded;charset=UTF-8, own host
bun, fetch: no type, other.example
bun, Request: null
bun, fetch of it: no type, other.example
bun, form: application/x-www-form-urlencoded;charset=UTF-8, other.example
TEXT
diff expected seen
echo 'As expected.'
