#!/bin/sh
# @upyo/smtp 0.4.0 with @upyo/core 0.4.0 (npm) on Node sends to a server in this script; postal-mime 4.0.0 and nodemailer's address parser
# (npm, 10.6.1) read what comes.
#
# Guess: createMessage reads "Shop, Inc." <shop@shop.example>, and the transport writes the quotation marks back; a line of the text ends
#        as a line of the message does, as quoted-printable has it (RFC 2045 6.7); a file name beyond ASCII is by RFC 2231.
# Seen:  the name is read right, and written without its marks: the sender has no address for postal-mime, while nodemailer guesses it. The
#        whole text is one line of quoted-printable with =0A in it, the LF of a Unix text. The file name is raw UTF-8 in quotation marks.
set -eu
cd "$(mktemp -d)"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund --ignore-scripts @upyo/smtp@0.4.0 @upyo/core@0.4.0 postal-mime@4.0.0 nodemailer@10.6.1
cat > see.mjs <<'JS'
import { createServer } from 'node:net';
import { createMessage } from '@upyo/core';
import { SmtpTransport } from '@upyo/smtp';
import addressParser from 'nodemailer/lib/addressparser/index.js';
import PostalMime from 'postal-mime';
let message = '';
const server = createServer((socket) => {
  let [isText, rest] = [false, ''];
  socket.on('error', () => socket.destroy());
  socket.write('220 mx\r\n');
  socket.setEncoding('latin1').on('data', (data) => {
    const lines = (rest + data).split('\r\n');
    rest = lines.pop();
    for (const line of lines) {
      if (isText && line !== '.') message += `${line}\r\n`;
      if (isText && line !== '.') continue;
      isText = line === 'DATA';
      if (line === 'QUIT') socket.end('221 bye\r\n');
      else socket.write(isText ? '354 go on\r\n' : '250 ok\r\n');
    }
  });
});
await new Promise((listening) => server.listen(0, '127.0.0.1', listening));
const transport = new SmtpTransport({ host: '127.0.0.1', port: server.address().port, secure: false });
const mail = createMessage({
  from: '"Shop, Inc." <shop@shop.example>',
  to: 'ada@home.example',
  subject: 'Order',
  content: { text: 'Dear Ada,\nit is on its way.\n' },
  attachments: [{ filename: 'März.pdf', content: new Uint8Array(3), contentType: 'application/pdf', contentId: 'a', inline: false }],
});
console.log(`read: ${JSON.stringify(mail.sender)}`);
await transport.send(mail);
const from = /^From: (.*)\r$/m.exec(message)[1];
console.log(`written: ${from}`);
console.log(`nodemailer: ${JSON.stringify(addressParser(from))}`);
console.log(`postal-mime: ${JSON.stringify((await PostalMime.parse(Buffer.from(message, 'latin1'))).from)}`);
console.log(`text: ${/^Dear.*$/m.exec(message)[0].trim()}`);
console.log(`file: ${/filename.*/.exec(Buffer.from(message, 'latin1').toString())[0].trim()}`);
process.exit(0);
JS
node --no-warnings see.mjs | tee seen
cat > expected <<'TEXT'
read: {"name":"Shop, Inc.","address":"shop@shop.example"}
written: Shop, Inc. <shop@shop.example>
nodemailer: [{"address":"shop@shop.example","name":"Shop, Inc."}]
postal-mime: {"address":"","name":"Shop"}
text: Dear Ada,=0Ait is on its way.=0A
file: filename="März.pdf"
TEXT
diff expected seen
echo 'As expected.'
