#!/bin/sh
# rspamd 3.4-1 of Debian 12, unpacked with its libraries and not installed, with the rules and scores of the package.
#
# Guess: an envelope address beyond ASCII (SMTPUTF8, RFC 6531), as a mail server hands it to rspamd, is an address as any other.
# Seen:  the recipient jürgen@home.example, or ann@bücher.example, gives BROKEN_HEADERS to a message without a fault: 8 points, more than the 6
#        that mark mail as spam. So does such a sender. The domain as xn--… has none.
set -eu
cd "$(mktemp -d)"
apt-get download -qq rspamd=3.4-1 libhyperscan5 libluajit-5.1-2 libluajit-5.1-common libsodium23 libunwind8 libicu72 libglib2.0-0 \
  libsqlite3-0 libmagic1 libmagic-mgc libjemalloc2 2>apt.log
for package in *.deb; do dpkg -x "$package" root; done
LD_LIBRARY_PATH=$(find "$PWD/root" -name '*.so*' -printf '%h\n' | sort -u | paste -sd:)
export LD_LIBRARY_PATH
share=$PWD/root/usr/share/rspamd
mkdir state
LUALIBDIR=$share/lualib root/usr/bin/rspamd --insecure --no-fork --config "$PWD/root/etc/rspamd/rspamd.conf" \
  --var="CONFDIR=$PWD/root/etc/rspamd" --var="LOCAL_CONFDIR=$PWD/local" --var="SHAREDIR=$share" --var="RULESDIR=$share/rules" \
  --var="PLUGINSDIR=$share/plugins" --var="DBDIR=$PWD/state" --var="RUNDIR=$PWD/state" --var="LOGDIR=$PWD/state" >rspamd.log 2>&1 &
daemon=$!
trap 'kill $daemon' EXIT
for _ in $(seq 200); do
  sleep 1
  if printf 'Subject: a\r\n\r\na\r\n' | root/usr/bin/rspamc --connect localhost:11333 | grep -q Score; then break; fi
done
printf 'From: Shop <news@shop.example>\r\nTo: ann@home.example\r\nSubject: Hello\r\nMessage-ID: <a1b2@shop.example>\r\n\r\nHello Ann.\r\n' > message.eml
# A header of HTTP has octets, as mail servers send them: letters beyond Latin-1 are given octet by octet.
cat > points.mjs <<'JS'
import { readFileSync } from 'node:fs';
const octets = (text) => Buffer.from(text).toString('latin1');
for (const [from, to] of [
  ['news@shop.example', 'ann@home.example'],
  ['news@shop.example', 'ann@xn--bcher-kva.example'],
  ['news@shop.example', 'ann@bücher.example'],
  ['news@shop.example', 'jürgen@home.example'],
  ['news@bücher.example', 'ann@home.example'],
]) {
  const headers = { From: octets(from), Rcpt: octets(to) };
  const answer = await fetch('http://127.0.0.1:11333/checkv2', { method: 'POST', headers, body: readFileSync('message.eml') });
  const { symbols } = await answer.json();
  console.log(`from ${from} to ${to}: ${symbols.BROKEN_HEADERS?.score ?? 'none'}`);
}
JS
node --no-warnings points.mjs | tee seen
cat > expected <<'TEXT'
from news@shop.example to ann@home.example: none
from news@shop.example to ann@xn--bcher-kva.example: none
from news@shop.example to ann@bücher.example: 8
from news@shop.example to jürgen@home.example: 8
from news@bücher.example to ann@home.example: 8
TEXT
diff expected seen
echo 'As expected.'
