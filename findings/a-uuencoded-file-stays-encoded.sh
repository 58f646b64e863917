#!/bin/sh
# mailparser 3.14.2 and postal-mime 4.0.0 (npm) on Node; Python 3 of Debian 12 (3.11.2).
#
# Guess: a file with `Content-Transfer-Encoding: x-uuencode` is decoded by mailparser, as Python's email does it, if not by postal-mime.
# Seen:  Python gives the three octets of the file. mailparser and postal-mime give out the four lines of the encoding under its name,
#        without a word about it, and each with other line ends.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund mailparser@3.14.2 postal-mime@4.0.0
cat > see.mjs <<'JS'
import { writeFileSync } from 'node:fs';
import { simpleParser } from 'mailparser';
import PostalMime from 'postal-mime';
const raw = [
  'From: ann@shop.example', 'MIME-Version: 1.0', 'Content-Type: multipart/mixed; boundary=b', '',
  '--b', 'Content-Type: text/plain', '', 'See it',
  '--b', 'Content-Type: application/octet-stream; name=cat.txt', 'Content-Disposition: attachment; filename=cat.txt',
  'Content-Transfer-Encoding: x-uuencode', '', 'begin 644 cat.txt', '#0V%T', '`', 'end', '--b--', '',
].join('\r\n');
writeFileSync('message', raw);
const show = (name, { content }) => console.log(`${name}: ${JSON.stringify(Buffer.from(content).toString())}`);
show('mailparser', (await simpleParser(raw)).attachments[0]);
show('postal-mime', (await PostalMime.parse(raw)).attachments[0]);
JS
{
  node see.mjs
  python3 -c 'import email, email.policy
message = email.message_from_binary_file(open("message", "rb"), policy=email.policy.default)
print("python:", next(message.iter_attachments()).get_content())'
} | tee seen
cat > expected <<'TEXT'
mailparser: "begin 644 cat.txt\r\n#0V%T\r\n`\r\nend"
postal-mime: "begin 644 cat.txt\n#0V%T\n`\nend\n"
python: b'Cat'
TEXT
diff expected seen
echo 'As expected.'
