#!/bin/sh
# @payloadcms/email-resend 3.90.1 with payload 3.90.1 (npm), beside nodemailer 10.6.1 (npm), on Node: what they write of one message. Payload's
# adapters take the options of nodemailer.
#
# Guess: a sender without a name is the address alone, a text as an attachment is put into the base64 that Resend reads, names of
#        recipients and the Content-ID of a picture stay.
# Seen:  the sender is "undefined <shop@shop.example>"; the text is written as it is, so that a reader of base64 has octets of no meaning;
#        the name of the recipient and the Content-ID are gone, so that the picture in the html is not shown. There is no error.
set -eu
cd "$(mktemp -d)"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund --ignore-scripts --legacy-peer-deps @payloadcms/email-resend@3.90.1 payload@3.90.1 nodemailer@10.6.1
cat > see.mjs <<'JS'
import nodemailer from 'nodemailer';
let body;
globalThis.fetch = async (_, request) => {
  body = JSON.parse(request.body);
  return new Response('{"id":"1"}');
};
const { resendAdapter } = await import('@payloadcms/email-resend');
const adapter = resendAdapter({ apiKey: 'k', defaultFromAddress: 'shop@shop.example', defaultFromName: 'Shop' })();
const message = {
  from: { address: 'shop@shop.example' },
  to: [{ name: 'Ada', address: 'ada@home.example' }],
  subject: 'Order',
  html: '<img src="cid:logo">',
  attachments: [
    { filename: 'note.txt', content: 'hello' },
    { filename: 'logo.png', content: Buffer.from('png'), cid: 'logo' },
  ],
};
await adapter.sendEmail(message);
const [note, logo] = body.attachments;
console.log(`payload: from ${body.from}, to ${body.to}, note ${Buffer.from(note.content, 'base64').toString('hex')}, logo ${JSON.stringify(Object.keys(logo))}`);
const sent = await nodemailer.createTransport({ streamTransport: true, buffer: true }).sendMail(message);
const raw = String(sent.message);
const field = (name) => new RegExp(`^${name}: (.*)`, 'im').exec(raw)[1].trim();
console.log(`nodemailer: from ${field('From')}, to ${field('To')}, note ${/hello|aGVsbG8=/.exec(raw)[0]}, logo ${field('Content-Id')}`);
process.exit(0);
JS
node --no-warnings see.mjs | tee seen
cat > expected <<'TEXT'
payload: from undefined <shop@shop.example>, to ada@home.example, note 85e965, logo ["content","filename"]
nodemailer: from shop@shop.example, to Ada <ada@home.example>, note aGVsbG8=, logo <logo>
TEXT
diff expected seen
echo 'As expected.'
