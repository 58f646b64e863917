#!/bin/sh
# courier-imap 5.0.13+1.0.16-3+b6 and mailutils-imap4d 1:3.15-4 (Debian 12, amd64), unpacked with their libraries and not installed.
#
# Guess: `SENTON 30-Nov-2026` finds the messages whose Date field has that day, whatever its hour and zone are: RFC 9051 (6.4.4) disregards
#        both.
# Seen:  Courier takes the day in the zone of the server: a message of 30 November, 23:30 in New York is found on 1 December, and one of 1
#        December in Tokyo on 30 November. In GNU Mailutils a day is two: `SENTON` and `ON` find the messages of the next day as well, so
#        that a client that counts, exports or deletes by the day takes each twice.
set -eu
cd "$(mktemp -d)"
apt-get download -qq courier-imap=5.0.13+1.0.16-3+b6 courier-base libcourier-unicode4 courier-authlib libidn12 libgamin0 \
  mailutils-imap4d=1:3.15-4 libmailutils9=1:3.15-4 libgsasl18 libgssglue1 libntlm0 libwrap0 libmariadb3 2>apt.log
for package in *.deb; do dpkg -x "$package" root; done
libraries=$(find "$PWD/root" -name '*.so*' -printf '%h\n' | sort -u | paste -sd:)
mkdir -p mail/cur mail/new mail/tmp spool
number=0
for date in 'Mon, 30 Nov 2026 23:30:00 -0500' 'Mon, 30 Nov 2026 12:00:00 +0000' 'Tue, 01 Dec 2026 00:30:00 +0900' 'Wed, 02 Dec 2026 12:00:00 +0000'; do
  number=$((number + 1))
  printf 'From: ada@shop.example\nSubject: %s\nDate: %s\n\nHello.\n' "$number" "$date" > "mail/cur/1.$number"
  { echo "From ada@shop.example Mon Nov 30 08:00:00 2026"; cat "mail/cur/1.$number"; echo; } >> "spool/$(id -un)"
done
sed -i '1s/Nov 30/Nov 29/' "spool/$(id -un)"
printf 'mailbox { mail-spool %s/spool; };\npreauth stdio;\n' "$PWD" > mailutils.conf
# Courier reads a command only once the one before is answered.
talk() {
  printf 'a EXAMINE INBOX\r\n'; sleep 2
  for search in 'SENTON 30-Nov-2026' 'SENTON 1-Dec-2026' 'SENTON 2-Dec-2026' "$@"; do printf 'b SEARCH %s\r\n' "$search"; sleep 1; done
  printf 'e LOGOUT\r\n'
}
seen() { tr -d '\r' | grep '^\* SEARCH'; }
talk | TZ=UTC AUTHENTICATED=ada IMAP_CAPABILITY=IMAP4rev1 TCPREMOTEIP=127.0.0.1 TCPREMOTEPORT=1 LD_LIBRARY_PATH=$libraries \
  root/usr/bin/imapd "$PWD/mail" 2>courier.log | seen | sed 's/^/courier: /' | tee courier
talk 'ON 29-Nov-2026' 'ON 30-Nov-2026' | TZ=UTC LD_LIBRARY_PATH=$libraries \
  root/usr/sbin/imap4d --no-config --config-file=mailutils.conf --inetd 2>mailutils.log | seen | sed 's/^/mailutils: /' | tee mailutils
cat > expected <<'TEXT'
courier: * SEARCH 2 3
courier: * SEARCH 1
courier: * SEARCH 4
mailutils: * SEARCH 1 2 3
mailutils: * SEARCH 3 4
mailutils: * SEARCH 4
mailutils: * SEARCH 1 2 3 4
mailutils: * SEARCH 2 3 4
TEXT
cat courier mailutils | diff expected -
echo 'As expected.'
