#!/bin/sh
# Python 3.11.2 (3.11.2-6+deb12u9 of Debian 12, unpacked and not installed), `email.policy.default`; nodemailer 10.6.1 and postal-mime 4.0.0
# (npm) on Node.
#
# Guess: white space between two encoded words is no part of a text (RFC 2047 6.2), in a subject and in the name of an address.
# Seen:  in a subject it is left out, in a name it becomes a space. A name of more than one encoded word, as nodemailer writes a long one,
#        comes back with a space in the middle of a word, and names that differ for it are two people in a list. postal-mime reads it right.
set -eu
cd "$(mktemp -d)"
apt-get download -qq python3.11-minimal=3.11.2-6+deb12u9 libpython3.11-minimal=3.11.2-6+deb12u9 \
  libpython3.11-stdlib=3.11.2-6+deb12u9 2>apt.log
for package in *.deb; do dpkg -x "$package" root; done
npm init -y >/dev/null
npm install --silent --no-audit --no-fund nodemailer@10.6.1 postal-mime@4.0.0
cat > write.mjs <<'JS'
import MailComposer from 'nodemailer/lib/mail-composer/index.js';
import PostalMime from 'postal-mime';
import { writeFileSync } from 'node:fs';
const name = 'Bäckerei und Konditorei Jürgen Großmüller Nachfolger Gesellschaft mbH';
const message = await new MailComposer({ from: { name, address: 'hello@shop.example' }, to: 'ann@home.example', subject: name, text: 'x' }).compile().build();
writeFileSync('message', message);
console.log(message.toString().match(/^From: [\s\S]*?(?=\r\n\S)/m)[0].replaceAll('\r', ''));
console.log('postal-mime:', (await PostalMime.parse(message)).from.name === name ? 'the name' : 'another name');
JS
cat > read.py <<'PY'
import email, email.policy
message = email.message_from_binary_file(open('message', 'rb'), policy=email.policy.default)
print('Python, subject:', message['Subject'])
print('Python, name:   ', message['From'].addresses[0].display_name)
short = email.message_from_string('From: =?utf-8?Q?J=C3=BCr?= =?utf-8?Q?gen?= <a@shop.example>\n\n', policy=email.policy.default)
print('Python, name:   ', short['From'].addresses[0].display_name)
PY
{
  node write.mjs
  PYTHONHOME=root/usr root/usr/bin/python3.11 read.py
} | tee seen
cat > expected <<'TEXT'
From: =?UTF-8?Q?B=C3=A4ckerei_und_Konditorei_J=C3=BCrgen?=
 =?UTF-8?Q?_Gro=C3=9Fm=C3=BCller_Nachfolger_Gesells?= =?UTF-8?Q?chaft_mbH?=
 <hello@shop.example>
postal-mime: the name
Python, subject: Bäckerei und Konditorei Jürgen Großmüller Nachfolger Gesellschaft mbH
Python, name:    Bäckerei und Konditorei Jürgen  Großmüller Nachfolger Gesells chaft mbH
Python, name:    Jür gen
TEXT
diff expected seen
echo 'As expected.'
