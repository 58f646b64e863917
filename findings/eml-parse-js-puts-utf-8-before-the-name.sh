#!/bin/sh
# eml-parse-js 1.1.15 and postal-mime 4.0.0 (npm) on Node.
#
# Guess: eml-parse-js reads `filename*=UTF-8''Bericht%20M%C3%A4rz.pdf` as "Bericht März.pdf", and a group in Cc as its members.
# Seen:  the name of the file is "UTF-8Bericht März.pdf": the charset of RFC 2231 is a part of it. A group is one name without an address,
#        so that no member is found. postal-mime reads both.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund eml-parse-js@1.1.15 postal-mime@4.0.0
cat > see.mjs <<'JS'
import { readEml } from 'eml-parse-js';
import PostalMime from 'postal-mime';
const text = ['From: Ann <ann@home.example>', 'To: ben@home.example', 'Cc: Team: eve@home.example, bob@home.example;', 'Subject: Report',
  'Date: Mon, 30 Nov 2026 12:00:00 +0000', 'MIME-Version: 1.0', 'Content-Type: multipart/mixed; boundary="b"', '', '--b',
  'Content-Type: text/plain', '', 'Hello.', '--b', 'Content-Type: application/pdf',
  "Content-Disposition: attachment; filename*=UTF-8''Bericht%20M%C3%A4rz.pdf", 'Content-Transfer-Encoding: base64', '', 'JVBERi0=', '--b--',
  ''].join('\r\n');
readEml(text, (error, read) => {
  console.log(`eml-parse-js: ${error ?? read.attachments.map(({ name }) => name)}; Cc ${JSON.stringify(read.cc)}`);
});
const other = await PostalMime.parse(text);
console.log(`postal-mime: ${other.attachments.map(({ filename }) => filename)}; Cc ${other.cc[0].group.map(({ address }) => address)}`);
JS
node --no-warnings see.mjs | tee seen
cat > expected <<'TEXT'
eml-parse-js: UTF-8Bericht März.pdf; Cc {"name":"Team"}
postal-mime: Bericht März.pdf; Cc eve@home.example,bob@home.example
TEXT
diff expected seen
echo 'As expected.'
