#!/bin/sh
# rspamd 3.4-1 of Debian 12, unpacked with its libraries and not installed, with the rules and scores of the package.
#
# Guess: R_MIXED_CHARSET finds words that mix scripts, such as a Cyrillic letter in a Latin word. German and French are no mixture: the
#        letters with marks are Latin.
# Seen:  a word with a small letter and one with a mark is a mixture. A subject that holds such words has 1.25 points of the 6 that mark
#        mail as spam, by itself; a short body with such words in plenty has up to 5, "Votre commande a été expédiée" has 4. A text with
#        fewer of them has none, nor has "Заказ iPhone".
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
for _ in $(seq 90); do
  sleep 1
  if printf 'Subject: a\r\n\r\na\r\n' | root/usr/bin/rspamc --connect localhost:11333 | grep -q Score; then break; fi
done
# points SUBJECT TEXT
points() {
  {
    printf 'From: Shop <news@shop.example>\r\nTo: ann@home.example\r\nMessage-ID: <a1b2@shop.example>\r\nDate: Mon, 30 Nov 2026 08:00:00 +0000\r\n'
    printf 'MIME-Version: 1.0\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: base64\r\n'
    printf 'Subject: =?utf-8?B?%s?=\r\n\r\n' "$(printf %s "$1" | base64 -w0)"
    printf %s "$2" | base64
  } > message.eml
  score=$(root/usr/bin/rspamc --connect localhost:11333 < message.eml | sed -n 's/^Symbol: R_MIXED_CHARSET (\([0-9.]*\)).*/\1/p')
  echo "${score:-none}"
}
for text in 'Your order is on its way' 'Für Anna' 'Votre commande a été expédiée' 'Möchten Sie für März zusätzliche Plätze?' 'Заказ iPhone' \
  'Ihre Rechnung 2026 für Anna Schmidt aus Berlin: die Lampen sind unterwegs'; do
  echo "$text: as subject $(points "$text" 'Hello Ann'), as body $(points Hello "$text")"
done | tee seen
cat > expected <<'TEXT'
Your order is on its way: as subject none, as body none
Für Anna: as subject 1.25, as body 2.50
Votre commande a été expédiée: as subject 1.25, as body 4.00
Möchten Sie für März zusätzliche Plätze?: as subject 1.25, as body 3.33
Заказ iPhone: as subject none, as body none
Ihre Rechnung 2026 für Anna Schmidt aus Berlin: die Lampen sind unterwegs: as subject none, as body none
TEXT
diff expected seen
echo 'As expected.'
