#!/bin/sh
# mimetext 3.0.28, with postal-mime 4.0.0 as a reader (npm), on Node.
#
# Guess: `asRaw` is a message that can be sent: lines of base64 of 76 characters that end with CRLF, encoded words of at most 75, and no Bcc.
# Seen:  a file is one line of base64, however long: 2 kB are a line of 2,736 octets, where SMTP has 998 (RFC 5321, 4.5.3.1.6). A subject
#        is one encoded word of any length, where RFC 2047 has 75. The Bcc field is in the message with its addresses. All lines end
#        with LF alone on Linux.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund mimetext@3.0.28 postal-mime@4.0.0
cat > see.mjs <<'JS'
import { createMimeMessage } from 'mimetext';
import PostalMime from 'postal-mime';
const message = createMimeMessage();
message.setSender({ name: 'Shop', addr: 'hello@shop.example' });
message.setTo({ addr: 'ann@home.example' });
message.setBcc({ addr: 'ben@home.example' });
message.setSubject(`Ihre Bestellung über ${'Lampen, '.repeat(12)}Tische`);
message.addMessage({ contentType: 'text/plain', data: 'Hello.' });
message.addAttachment({ filename: 'a.pdf', contentType: 'application/pdf', data: Buffer.alloc(2050, 'x').toString('base64') });
const raw = message.asRaw();
const lines = raw.split(/\r?\n/);
console.log(`line ends: ${[...new Set(raw.match(/\r?\n/g).map((end) => JSON.stringify(end)))]}`);
console.log(`longest line ${Math.max(...lines.map((line) => line.length))}`);
const subject = lines.find((line) => line.startsWith('Subject:'));
console.log(`encoded words of the subject: ${subject.match(/=\?[^ ]+\?=/g).map((word) => word.length)}`);
console.log(`Bcc as read: ${(await PostalMime.parse(raw)).bcc.map(({ address }) => address)}`);
JS
node --no-warnings see.mjs | tee seen
cat > expected <<'TEXT'
line ends: "\n"
longest line 2736
encoded words of the subject: 180
Bcc as read: ben@home.example
TEXT
diff expected seen
echo 'As expected.'
