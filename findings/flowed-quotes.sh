#!/bin/sh
# postal-mime 4.0.0 and mailparser 3.9.31 (npm) on Node.
#
# Guess: a reader that joins the lines of `format=flowed` takes the quote marks off first, and joins what follows them: one quoted
#        paragraph (RFC 3676 4.5).
# Seen:  both join the lines and keep the mark of the second one in the middle of the paragraph. A program that looks for quoted lines
#        to find the new text of a reply, or that wraps the text again, quotes a mark that the person never wrote.
set -eu
cd "$(mktemp -d)"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund postal-mime@4.0.0 mailparser@3.9.31
cat > see.mjs <<'JS'
import { simpleParser } from 'mailparser';
import PostalMime from 'postal-mime';
const message = [
  'From: ada@example.com',
  'Content-Type: text/plain; charset=utf-8; format=flowed',
  '',
  'Two lines ',
  'of one paragraph.',
  '> a quoted ',
  '> paragraph',
  '',
].join('\r\n');
console.log('postal-mime', JSON.stringify((await PostalMime.parse(message)).text.trimEnd()));
console.log('mailparser', JSON.stringify((await simpleParser(message)).text.trimEnd()));
JS
node see.mjs | tee seen
for name in postal-mime mailparser; do
  grep -qxF "$name \"Two lines of one paragraph.\\n> a quoted > paragraph\"" seen
done
echo 'As expected.'
