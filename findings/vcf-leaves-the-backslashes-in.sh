#!/bin/sh
# vcf 2.1.2 and ical.js 2.2.1 (npm) on Node.
#
# Guess: vcf reads `Acme\, Inc.` of a vCard as "Acme, Inc.", as RFC 2426 writes a comma in a text, and writes the card back as it was.
# Seen:  the backslashes stay in each text, and `\n` in a note is a backslash and an n. The parts of a name end at an escaped semicolon as
#        well: the first name of Ann is a part of the last one. `toString` writes the label of an address in Apple's address book as
#        X-AB-LABEL, which that program does not know. ical.js reads the same card right.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund vcf@2.1.2 ical.js@2.2.1
cat > see.mjs <<'JS'
import ICAL from 'ical.js';
import vCard from 'vcf';
const text = ['BEGIN:VCARD', 'VERSION:3.0', 'FN:Ann Smith\\, Jr', 'N:Smith\\; Jones;Ann;;;', 'ORG:Acme\\, Inc.', 'NOTE:one\\ntwo',
  'item1.EMAIL;TYPE=INTERNET:ann@shop.example', 'item1.X-ABLabel:Shop', 'END:VCARD', ''].join('\r\n');
const card = new vCard().parse(text);
const other = new ICAL.Component(ICAL.parse(text));
for (const name of ['fn', 'org', 'note', 'n']) {
  console.log(`${name}: vcf ${JSON.stringify(card.toJSON()[1].find(([each]) => each === name)[3])}`);
  console.log(`${name}: ical.js ${JSON.stringify(other.getFirstPropertyValue(name))}`);
}
console.log(card.toString().split('\n').find((line) => line.startsWith('item1.X')).trim());
JS
node --no-warnings see.mjs | tee seen
cat > expected <<'TEXT'
fn: vcf "Ann Smith\\, Jr"
fn: ical.js "Ann Smith, Jr"
org: vcf "Acme\\, Inc."
org: ical.js "Acme, Inc."
note: vcf "one\\ntwo"
note: ical.js "one\ntwo"
n: vcf ["Smith\\"," Jones","Ann","","",""]
n: ical.js ["Smith; Jones","Ann","","",""]
item1.X-AB-LABEL:Shop
TEXT
diff expected seen
echo 'As expected.'
