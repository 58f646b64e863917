#!/bin/sh
# resend 6.34.1 (npm) on Node: the forms of an attachment's content on the wire.
#
# Guess: a Buffer, a Uint8Array and an ArrayBuffer are sent in base64, as a string is that holds base64.
# Seen:  a Buffer is a list of numbers in an object, three and a half times its size; a Uint8Array is an object with a member for each octet,
#        eleven times its size here; an ArrayBuffer is `{}`, so that its octets are lost without an error. 6.38.0 sends all three in base64.
set -eu
cd "$(mktemp -d)"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund --legacy-peer-deps old@npm:resend@6.34.1 new@npm:resend@6.38.0
cat > see.mjs <<'JS'
import { createServer } from 'node:http';
let sent;
const server = createServer(async (request, response) => {
  const pieces = [];
  for await (const piece of request) pieces.push(piece);
  sent = JSON.parse(Buffer.concat(pieces).toString()).attachments[0].content;
  response.setHeader('content-type', 'application/json').end('{"id":"1"}');
});
await new Promise((listening) => server.listen(0, '127.0.0.1', listening));
const octets = Uint8Array.from({ length: 30_000 }, (_, at) => (at * 7) % 256);
const forms = { Buffer: Buffer.from(octets), Uint8Array: octets, ArrayBuffer: octets.buffer };
for (const version of ['old', 'new']) {
  const { Resend } = await import(version);
  const resend = new Resend('re_1', { baseUrl: `http://127.0.0.1:${server.address().port}` });
  for (const [name, content] of Object.entries(forms)) {
    const attachments = [{ filename: 'a.bin', content }];
    await resend.emails.send({ from: 'a@a.example', to: 'b@b.example', subject: 'S', text: 'T', attachments });
    const kind = typeof sent === 'string' ? 'text' : Array.isArray(sent.data) ? 'a list in an object' : 'an object';
    console.log(`${version}, ${name}: ${kind}, ${(JSON.stringify(sent).length / octets.length).toFixed(1)} times its size`);
  }
}
server.close();
JS
node --no-warnings see.mjs | tee seen
grep -qx 'old, Buffer: a list in an object, 3.6 times its size' seen
grep -qx 'old, Uint8Array: an object, 11.2 times its size' seen
grep -qx 'old, ArrayBuffer: an object, 0.0 times its size' seen
for form in Buffer Uint8Array ArrayBuffer; do grep -qx "new, $form: text, 1.3 times its size" seen; done
echo 'As expected.'
