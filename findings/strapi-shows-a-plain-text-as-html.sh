#!/bin/sh
# @strapi/provider-email-nodemailer 5.54.0 (npm), beside the nodemailer that it sends with, on Node.
#
# Guess: a message with `text` alone has one part, text/plain, and one with `html` alone has a text that was made of it, or none.
# Seen:  Strapi fills the part that is missing with the other one as it is. A text is the html too, unescaped: readers of html, which most
#        are, see its lines run together, and <ann@shop.example> not at all. An html alone is the text too, with its markup.
set -eu
cd "$(mktemp -d)"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund --ignore-scripts @strapi/provider-email-nodemailer@5.54.0
cat > see.cjs <<'JS'
const provider = require('@strapi/provider-email-nodemailer');
const nodemailer = require('nodemailer');
const options = { streamTransport: true, buffer: true };
const base = { from: 'shop@shop.example', to: 'ada@home.example', subject: 'Order' };
const text = 'Dear Ada,\nwrite to Ann <ann@shop.example>\nif 1 < 2.';
const html = '<p>Dear <b>Ada</b></p>';
async function show(name, send) {
  const { message } = await send;
  console.log(name);
  for (const part of String(message).split(/^--.*$/m)) {
    const [head, ...body] = part.trim().split(/\r?\n\r?\n/);
    const type = /^Content-Type: (text\/\w+)/im.exec(head)?.[1];
    if (type) console.log(`  ${type}: ${JSON.stringify(body.join('').replace(/\r\n/g, '\n'))}`);
  }
}
(async () => {
  const strapi = (provider.default ?? provider).init(options, { defaultFrom: base.from, defaultReplyTo: base.from });
  await show('Strapi, text alone', strapi.send({ ...base, text }));
  await show('Strapi, html alone', strapi.send({ ...base, html }));
  const mailer = nodemailer.createTransport(options);
  await show('nodemailer, text alone', mailer.sendMail({ ...base, text }));
  await show('nodemailer, html alone', mailer.sendMail({ ...base, html }));
})();
JS
node --no-warnings see.cjs | tee seen
cat > expected <<'TEXT'
Strapi, text alone
  text/plain: "Dear Ada,\nwrite to Ann <ann@shop.example>\nif 1 < 2."
  text/html: "Dear Ada,\nwrite to Ann <ann@shop.example>\nif 1 < 2."
Strapi, html alone
  text/plain: "<p>Dear <b>Ada</b></p>"
  text/html: "<p>Dear <b>Ada</b></p>"
nodemailer, text alone
  text/plain: "Dear Ada,\nwrite to Ann <ann@shop.example>\nif 1 < 2."
nodemailer, html alone
  text/html: "<p>Dear <b>Ada</b></p>"
TEXT
diff expected seen
echo 'As expected.'
