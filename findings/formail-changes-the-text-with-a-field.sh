#!/bin/sh
# formail of procmail 3.22-27 and reformail of maildrop 2.9.3-2.1 (Debian 12, unpacked and not installed); mailauth 7.1.0 (npm) on Node.
#
# Guess: `formail -f -I 'X-Filter: seen'` adds a field to one message, and leaves its text as it is.
# Seen:  it puts `>` before each line of the text that begins with "From ", though neither the message nor, by -f, its result has the
#        separator of a mailbox: a signature that was valid is broken by any such sentence. `-b` leaves the text, and so does a
#        Content-Length. reformail changes nothing.
set -eu
cd "$(mktemp -d)"
command -v openssl >/dev/null || apt-get install -yqq openssl >/dev/null
apt-get download -qq procmail=3.22-27 maildrop=2.9.3-2.1 libcourier-unicode4 libgdbm6 courier-authlib 2>apt.log
for package in *.deb; do dpkg -x "$package" root; done
LD_LIBRARY_PATH=$(find "$PWD/root" -name '*.so*' -printf '%h\n' | sort -u | paste -sd:)
npm init -y >/dev/null
npm install --silent --no-audit --no-fund mailauth@7.1.0
openssl genrsa -out key.pem 2048 2>openssl.log
openssl rsa -in key.pem -pubout -outform DER 2>openssl.log | base64 -w0 > public
cat > sign.mjs <<'JS'
import { readFileSync, writeFileSync } from 'node:fs';
import { dkimSign } from 'mailauth/lib/dkim/sign.js';
const text = 'From: Ann <ann@home.example>\nSubject: Hello\n\nHello Ada,\nFrom my side it is fine.\n';
const key = { signingDomain: 'home.example', selector: 'a', privateKey: readFileSync('key.pem', 'utf8') };
const { signatures } = await dkimSign(text.replace(/\n/g, '\r\n'), { ...key, signatureData: [key] });
writeFileSync('message.eml', signatures.replace(/\r/g, '') + text);
JS
cat > see.mjs <<'JS'
import { readFileSync } from 'node:fs';
import { dkimVerify } from 'mailauth/lib/dkim/verify.js';
const resolver = async () => [[`v=DKIM1; p=${readFileSync('public', 'utf8')}`]];
for (const name of ['none', 'formail', 'formail-b', 'reformail']) {
  const text = readFileSync(`${name}.eml`, 'utf8');
  const { results } = await dkimVerify(text.replace(/\n/g, '\r\n'), { resolver });
  console.log(`${name}: ${text.match(/.*From my .*/)[0]} DKIM ${results[0].status.result}`);
}
JS
node sign.mjs
cp message.eml none.eml
root/usr/bin/formail -f -I 'X-Filter: seen' < message.eml > formail.eml
root/usr/bin/formail -f -b -I 'X-Filter: seen' < message.eml > formail-b.eml
LD_LIBRARY_PATH=$LD_LIBRARY_PATH root/usr/bin/reformail -I'X-Filter: seen' < message.eml > reformail.eml
node --no-warnings see.mjs | tee seen
cat > expected <<'TEXT'
none: From my side it is fine. DKIM pass
formail: >From my side it is fine. DKIM neutral
formail-b: From my side it is fine. DKIM pass
reformail: From my side it is fine. DKIM pass
TEXT
diff expected seen
echo 'As expected.'
