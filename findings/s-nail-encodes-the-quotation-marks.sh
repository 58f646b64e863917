#!/bin/sh
# s-nail 14.9.24-2 (Debian 12, amd64) and Python 3.11.2 (3.11.2-6+deb12u9), unpacked with their libraries and not installed; mailparser
# 3.9.31 (npm) on Node.
#
# Guess: a sender `"Müller, Anna" <ann@shop.example>` becomes one encoded word of the name without its quotation marks, and readers have
#        name and address.
# Seen:  s-nail encodes the words with the letter, and a quotation mark that touches one goes into it: the other mark stays outside. In
#        Python's reader a quoted text then begins that has no end, so that the sender has no address; mailparser reads both. Without
#        quotation marks (`Anna Müller`) all read it.
set -eu
cd "$(mktemp -d)"
apt-get download -qq s-nail=14.9.24-2 libgssapi-krb5-2 libcom-err2 libidn2-0 libk5crypto3 libkeyutils1 libkrb5-3 libkrb5support0 libssl3 \
  libtinfo6 libunistring2 python3.11-minimal=3.11.2-6+deb12u9 libpython3.11-minimal=3.11.2-6+deb12u9 \
  libpython3.11-stdlib=3.11.2-6+deb12u9 2>apt.log
for package in *.deb; do dpkg -x "$package" root; done
libraries=$(find "$PWD/root" -name '*.so*' -printf '%h\n' | sort -u | paste -sd:)
npm init -y >/dev/null
npm install --silent --no-audit --no-fund mailparser@3.9.31
cat > see.mjs <<'JS'
import { readFileSync } from 'node:fs';
import { simpleParser } from 'mailparser';
const { from } = await simpleParser(readFileSync('message.eml'));
console.log(`  mailparser: ${from.value.map(({ name, address }) => `${name.trim()} <${address}>`)}`);
JS
cat > see.py <<'PY'
import email, email.policy
sender = email.message_from_binary_file(open('message.eml', 'rb'), policy=email.policy.default)['From']
print('  Python:', *[f'{each.display_name} <{each.addr_spec}>' for each in sender.addresses])
PY
for name in '"Müller, Anna"' '"Anna Müller"' 'Anna Müller'; do
  echo Hello | LC_ALL=C.UTF-8 LD_LIBRARY_PATH=$libraries root/usr/bin/s-nail -:/ -S mta=test -S sendcharsets=utf-8 \
    -S "from=$name <ann@shop.example>" -s Hello ben@home.example | sed 1d > message.eml
  echo "$name: $(grep '^From: ' message.eml)"
  node --no-warnings see.mjs
  PYTHONIOENCODING=utf-8 PYTHONHOME=$PWD/root/usr root/usr/bin/python3.11 see.py
done | tee seen
cat > expected <<'TEXT'
"Müller, Anna": From: =?utf-8?Q?"M=C3=BCller,?= Anna" <ann@shop.example>
  mailparser: Müller, Anna <ann@shop.example>
  Python:  <"Müller, Anna">
"Anna Müller": From: "Anna =?utf-8?Q?M=C3=BCller"?= <ann@shop.example>
  mailparser: Anna Müller <ann@shop.example>
  Python:  <"Anna Müller\" <ann@shop.example>">
Anna Müller: From: Anna =?utf-8?Q?M=C3=BCller?= <ann@shop.example>
  mailparser: Anna Müller <ann@shop.example>
  Python: Anna Müller <ann@shop.example>
TEXT
diff expected seen
echo 'As expected.'
