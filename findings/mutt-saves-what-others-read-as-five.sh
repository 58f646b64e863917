#!/bin/sh
# mutt 2.2.12-0.1~deb12u2 and reformail of maildrop 2.9.3-2.1 (Debian 12, unpacked and not installed); `mailbox` of Python 3.11.2
# (3.11.2-6+deb12u9); mbox-reader 1.2.0 and node-mbox 2.0.0 (npm) on Node.
#
# Guess: who saves a message in a mailbox of the mbox format puts `>` before lines that begin with "From ", as procmail, maildrop and mpop
#        do; or else who reads one takes the lines alone that have an address and a date.
# Seen:  mutt leaves them and writes a Content-Length, and nothing else tells where the message ends. All four readers take each such line for
#        the start of the next message: one saved message becomes five, and the first has lost its text behind "Hello Ada,".
set -eu
cd "$(mktemp -d)"
apt-get download -qq mutt=2.2.12-0.1~deb12u2 libassuan0 libgpg-error0 libgpgme11 libgnutls30 libgssapi-krb5-2 libidn2-0 libkrb5-3 libk5crypto3 \
  libkrb5support0 libkeyutils1 libncursesw6 libtinfo6 libsasl2-2 libtokyocabinet9 libhogweed6 libnettle8 libp11-kit0 libtasn1-6 libunistring2 \
  libgmp10 libffi8 maildrop=2.9.3-2.1 libcourier-unicode4 courier-authlib libgdbm6 python3.11-minimal=3.11.2-6+deb12u9 \
  libpython3.11-minimal=3.11.2-6+deb12u9 libpython3.11-stdlib=3.11.2-6+deb12u9 2>apt.log
for package in *.deb; do dpkg -x "$package" root; done
libraries=$(find "$PWD/root" -name '*.so*' -printf '%h\n' | sort -u | paste -sd:)
npm init -y >/dev/null
npm install --silent --no-audit --no-fund mbox-reader@1.2.0 node-mbox@2.0.0
mkdir -p home/Mail in/cur in/new in/tmp
printf '%s\n' 'From: Ann <ann@home.example>' 'Subject: Hello' '' 'Hello Ada,' 'From my side it is fine.' '' 'From here I go to Rome.' '' \
  'From there I write.' '' 'From now on I am away.' > in/cur/1.a:2,S
# A terminal whose keyboard stays quiet: mutt takes the end of its input for a key.
sleep 4 | HOME=$PWD/home TERM=xterm LD_LIBRARY_PATH=$libraries timeout 20 script -qec "root/usr/bin/mutt -n -F /dev/null -f $PWD/in \
  -e 'set mbox_type=mbox confirmappend=no confirmcreate=no' -e 'push <copy-message>$PWD/box<enter><exit>'" /dev/null >mutt.log
grep -c '^From ' box | sed 's/^/lines with From: /' | tee seen
grep '^Content-Length' box | tee -a seen
cat > see.py <<'PY'
import mailbox
box = list(mailbox.mbox('box'))
print('Python:', len(box), repr(box[0].get_payload()))
PY
PYTHONHOME=$PWD/root/usr root/usr/bin/python3.11 see.py | tee -a seen
cat > see.mjs <<'JS'
import { createReadStream } from 'node:fs';
import { mboxReader } from 'mbox-reader';
import { MboxStream } from 'node-mbox';
let count = 0;
for await (const _ of mboxReader(createReadStream('box'))) count++;
console.log(`mbox-reader: ${count}`);
let other = 0;
MboxStream(createReadStream('box')).on('data', () => other++).on('finish', () => console.log(`node-mbox: ${other}`));
JS
node --no-warnings see.mjs | tee -a seen
LD_LIBRARY_PATH=$libraries root/usr/bin/reformail -s sh -c 'cat >/dev/null; echo one' < box | wc -l | sed 's/^/reformail: /' | tee -a seen
cat > expected <<'TEXT'
lines with From: 5
Content-Length: 106
Python: 5 'Hello Ada,\n'
mbox-reader: 5
node-mbox: 5
reformail: 5
TEXT
diff expected seen
echo 'As expected.'
