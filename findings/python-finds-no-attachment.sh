#!/bin/sh
# Python 3.11.2 (3.11.2-6+deb12u9 of Debian 12, unpacked and not installed), `email.policy.default`; mailparser 3.14.2 and postal-mime 4.0.0
# (npm) on Node.
#
# Guess: `iter_attachments` gives the files of a message: the PDF that Apple Mail puts beside the html of a `multipart/alternative`, the
#        invitation that Gmail and Outlook put there, and the PDF that is all a scanner sends.
# Seen:  it gives none of the three, without an error, as it looks into no `multipart/alternative` and at no message of one part; both
#        readers in JavaScript find each. Where a list has put a footer behind a signed message, it gives one part that is no file.
set -eu
cd "$(mktemp -d)"
apt-get download -qq python3.11-minimal=3.11.2-6+deb12u9 libpython3.11-minimal=3.11.2-6+deb12u9 \
  libpython3.11-stdlib=3.11.2-6+deb12u9 2>apt.log
for package in *.deb; do dpkg -x "$package" root; done
npm init -y >/dev/null
npm install --silent --no-audit --no-fund mailparser@3.14.2 postal-mime@4.0.0
cat > write.mjs <<'JS'
import { writeFileSync } from 'node:fs';
const lines = (...all) => all.flat().join('\r\n');
const part = (type, text, ...fields) => lines(`Content-Type: ${type}`, fields, '', text);
const multi = (type, boundary, ...parts) =>
  lines(`Content-Type: multipart/${type}; boundary=${boundary}`, '', parts.map((one) => lines(`--${boundary}`, one)), `--${boundary}--`);
const plain = part('text/plain', 'Here it is.');
const html = part('text/html', '<p>Here it is.</p>');
const pdf = part('application/pdf; name=a.pdf', 'JVBERi0=', 'Content-Disposition: inline; filename=a.pdf', 'Content-Transfer-Encoding: base64');
const messages = {
  apple: multi('alternative', 'A', plain, multi('mixed', 'B', html, pdf, html)),
  invitation: multi('alternative', 'A', plain, html, part('text/calendar; method=REQUEST', 'BEGIN:VCALENDAR')),
  scanner: pdf,
  list: multi('mixed', 'A', multi('signed; protocol="application/pgp-signature"', 'B', multi('mixed', 'C', plain, pdf),
    part('application/pgp-signature', 'x')), part('text/plain', 'You are on our list.')),
};
for (const [name, body] of Object.entries(messages))
  writeFileSync(`${name}.eml`, lines('From: ann@home.example', 'Subject: Hello', 'MIME-Version: 1.0', body, ''));
JS
node write.mjs
cat > see.py <<'PY'
from email import message_from_binary_file, policy
for name in ('apple', 'invitation', 'scanner', 'list'):
    with open(name + '.eml', 'rb') as file:
        message = message_from_binary_file(file, policy=policy.default)
    print(name, 'python:', [part.get_content_type() for part in message.iter_attachments()])
PY
cat > see.mjs <<'JS'
import { readFileSync } from 'node:fs';
import { simpleParser } from 'mailparser';
import PostalMime from 'postal-mime';
for (const name of ['apple', 'invitation', 'scanner', 'list']) {
  const raw = readFileSync(`${name}.eml`);
  console.log(name, 'mailparser:', (await simpleParser(raw)).attachments.map(({ contentType }) => contentType).join(' '));
  console.log(name, 'postal-mime:', (await PostalMime.parse(raw)).attachments.map(({ mimeType }) => mimeType).join(' '));
}
JS
{
  PYTHONHOME=$PWD/root/usr root/usr/bin/python3.11 see.py
  node --no-warnings see.mjs
} | tee seen
cat > expected <<'TEXT'
apple python: []
invitation python: []
scanner python: []
list python: ['multipart/signed']
apple mailparser: application/pdf
apple postal-mime: application/pdf
invitation mailparser: text/calendar
invitation postal-mime: text/calendar
scanner mailparser: application/pdf
scanner postal-mime: application/pdf
list mailparser: application/pdf application/pgp-signature
list postal-mime: application/pdf application/pgp-signature
TEXT
diff expected seen
echo 'As expected.'
