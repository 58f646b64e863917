#!/bin/sh
# mailparser 3.14.2 and postal-mime 4.0.0 (npm) on Node; Python 3 of Debian 12 (3.11.2).
#
# Guess: where a script forgets the empty line behind the header, readers take the first line that is no field for the begin of the text.
# Seen:  Python does. mailparser and postal-mime go on to the next empty line: the first paragraph is neither a field nor text, and a mail
#        of one paragraph has no text at all.
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
const raw = ['From: ann@shop.example', 'Subject: Backup', 'The disk is full.', '', 'Yours, db1', ''].join('\r\n');
writeFileSync('message', raw);
for (const [name, parse] of [['mailparser', simpleParser], ['postal-mime', PostalMime.parse]]) {
  const { subject, text } = await parse(raw);
  console.log(`${name}: ${subject} | ${JSON.stringify(text)}`);
}
JS
{
  node see.mjs
  python3 -c 'import email
message = email.message_from_binary_file(open("message", "rb"))
print("python:", message["Subject"], "|", repr(message.get_payload()), message.defects)'
} | tee seen
cat > expected <<'TEXT'
mailparser: Backup | "Yours, db1\n"
postal-mime: Backup | "Yours, db1\n"
python: Backup | 'The disk is full.\n\nYours, db1\n' [MissingHeaderBodySeparatorDefect()]
TEXT
diff expected seen
echo 'As expected.'
