#!/bin/sh
# mailparser 3.14.2 and postal-mime 4.0.0 (npm) on Node: a text file in a message, with a name and without `attachment`.
#
# Guess: a part of text/plain that has a file name, behind the text of the message, is in the list of attachments, as a PDF is that
#        is written so: mail programs show both below the message.
# Seen:  for both readers the part is no attachment, and its name is nowhere: its content is joined to the text of the message. The same
#        with `inline` and a name (RFC 2183 2.3). The PDF is an attachment for both.
set -eu
cd "$(mktemp -d)"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund mailparser@3.14.2 postal-mime@4.0.0
cat > see.mjs <<'JS'
import { simpleParser } from 'mailparser';
import PostalMime from 'postal-mime';
const message = (...parts) =>
  [
    'From: a@example.com',
    'MIME-Version: 1.0',
    'Content-Type: multipart/mixed; boundary=b',
    '',
    ...['Content-Type: text/plain\r\n\r\nHello.', ...parts].map((part) => `--b\r\n${part}`),
    '--b--',
    '',
  ].join('\r\n');
const file = (type, name, ...more) =>
  message([`Content-Type: ${type}; name=${name}`, ...more, '', 'What is in it'].join('\r\n'));
const shown = async (name, raw) => {
  const one = await simpleParser(raw);
  const other = await PostalMime.parse(raw);
  for (const [reader, { attachments, text }] of [['mailparser', one], ['postal-mime', other]]) {
    const files = attachments.map(({ filename }) => filename).join(' ') || 'no file';
    console.log(`${name}, ${reader}: ${files}, ${text.includes('What is in it') ? 'in the text' : 'not in the text'}`);
  }
};
await shown('text', file('text/plain', 'notes.txt'));
await shown('inline text', file('text/plain', 'notes.txt', 'Content-Disposition: inline; filename=notes.txt'));
await shown('PDF', file('application/pdf', 'notes.pdf'));
JS
node --no-warnings see.mjs | tee seen
for reader in mailparser postal-mime; do
  grep -qx "text, $reader: no file, in the text" seen
  grep -qx "inline text, $reader: no file, in the text" seen
  grep -qx "PDF, $reader: notes.pdf, not in the text" seen
done
echo 'As expected.'
