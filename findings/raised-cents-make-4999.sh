#!/bin/sh
# html-to-text 10.0.1, turndown 7.2.5 and mailparser 3.9.31 (npm) on Node.
#
# Guess: the plain text of a price with raised cents, `49<sup>99</sup> €`, keeps the cents apart, as lynx and w3m write 49^99.
# Seen:  all three write 4999 €, a price a hundred times as high, 10<sup>6</sup> is 106, and the footnote 1 of an order 471 makes 4711. The text
#        that mailparser makes of an html mail says so, too.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund html-to-text@10.0.1 turndown@7.2.5 mailparser@3.9.31
cat > see.cjs <<'JS'
const { convert } = require('html-to-text');
const { simpleParser } = require('mailparser');
const Turndown = require('turndown');
const html = '<p>Now 49<sup>99</sup> €, order 471<sup>1</sup>, 10<sup>6</sup> lamps</p>';
console.log(`html-to-text: ${convert(html)}`);
console.log(`turndown: ${new Turndown().turndown(html)}`);
simpleParser(`Content-Type: text/html; charset=utf-8\r\n\r\n${html}\r\n`).then(({ text }) => console.log(`mailparser: ${text}`));
JS
node --no-warnings see.cjs | tee seen
cat > expected <<'TEXT'
html-to-text: Now 4999 €, order 4711, 106 lamps
turndown: Now 4999 €, order 4711, 106 lamps
mailparser: Now 4999 €, order 4711, 106 lamps
TEXT
diff expected seen
echo 'As expected.'
