#!/bin/sh
# linkify-it 6.1.0 (npm), which markdown-it makes links with, and linkifyjs 4.4.0 and autolinker 4.1.5 (npm), on Node.
#
# Guess: each finds two addresses in "ann@home.com,ben@home.com" and in the same text with a semicolon, as people paste them.
# Seen:  linkify-it finds the first alone; with a space behind the comma it finds both. The two others find both in each.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund linkify-it@6.1.0 linkifyjs@4.4.0 autolinker@4.1.5
cat > see.cjs <<'JS'
const Module = require('linkify-it');
const linkifyIt = new (Module.LinkifyIt ?? Module.default ?? Module)();
const linkify = require('linkifyjs');
const Autolinker = require('autolinker').default ?? require('autolinker');
for (const text of ['ann@home.com,ben@home.com', 'ann@home.com;ben@home.com', 'ann@home.com, ben@home.com']) {
  console.log(`${text}: linkify-it ${(linkifyIt.match(text) ?? []).map(({ text }) => text).join(' and ')}`);
  console.log(`${text}: linkifyjs ${linkify.find(text).map(({ value }) => value).join(' and ')}`);
  console.log(`${text}: autolinker ${Autolinker.parse(text).map((match) => match.getMatchedText()).join(' and ')}`);
}
JS
node --no-warnings see.cjs | tee seen
cat > expected <<'TEXT'
ann@home.com,ben@home.com: linkify-it ann@home.com
ann@home.com,ben@home.com: linkifyjs ann@home.com and ben@home.com
ann@home.com,ben@home.com: autolinker ann@home.com and ben@home.com
ann@home.com;ben@home.com: linkify-it ann@home.com
ann@home.com;ben@home.com: linkifyjs ann@home.com and ben@home.com
ann@home.com;ben@home.com: autolinker ann@home.com and ben@home.com
ann@home.com, ben@home.com: linkify-it ann@home.com and ben@home.com
ann@home.com, ben@home.com: linkifyjs ann@home.com and ben@home.com
ann@home.com, ben@home.com: autolinker ann@home.com and ben@home.com
TEXT
diff expected seen
echo 'As expected.'
