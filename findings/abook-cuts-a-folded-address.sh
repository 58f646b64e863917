#!/bin/sh
# abook 0.6.1-2+b1 (Debian 12, amd64), unpacked and not installed; ical.js 2.2.1 (npm) on Node writes the card.
#
# Guess: a vCard 3.0 is read into another format with its names and addresses; its lines are folded at 75 octets (RFC 2426 2.6).
# Seen:  abook reads each line by itself: an address that is folded ends at the fold and is another address, without an error; the second
#        address of Apple's form `item1.EMAIL` is lost, and `Doe\, Jane` keeps its backslash.
set -eu
cd "$(mktemp -d)"
apt-get download -qq abook=0.6.1-2+b1 libncursesw6 libreadline8 libtinfo6 2>apt.log
for package in *.deb; do dpkg -x "$package" root; done
LD_LIBRARY_PATH=$(find "$PWD/root" -name '*.so*' -printf '%h\n' | sort -u | paste -sd:)
export LD_LIBRARY_PATH
npm init -y >/dev/null
npm install --silent --no-audit --no-fund ical.js@2.2.1
cat > write.mjs <<'JS'
import { writeFileSync } from 'node:fs';
import ICAL from 'ical.js';
const card = new ICAL.Component('vcard');
for (const [name, value] of [
  ['version', '3.0'],
  ['fn', 'Doe, Jane'],
  ['email', 'jane.doe.of.the.purchasing.department@customers.of.the.south.home.example.com'],
]) {
  card.addPropertyWithValue(name, value);
}
const apple = new ICAL.Component('vcard');
for (const [name, value] of [['version', '3.0'], ['fn', 'Ann'], ['email', 'ann@home.example']]) apple.addPropertyWithValue(name, value);
const lines = apple.toString().replace('END:VCARD', 'item1.EMAIL;TYPE=INTERNET:ann@work.example\r\nEND:VCARD');
writeFileSync('contacts.vcf', `${card.toString()}\r\n${lines}\r\n`);
JS
node write.mjs
root/usr/bin/abook --convert --informat vcard --infile contacts.vcf --outformat csv | tee seen
cat > expected <<'TEXT'
"Doe\, Jane","jane.doe.of.the.purchasing.department@customers.of.the.south.home.exa","","",""
"Ann","ann@home.example","","",""
TEXT
diff expected seen
echo 'As expected.'
