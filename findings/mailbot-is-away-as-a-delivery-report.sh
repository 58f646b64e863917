#!/bin/sh
# maildrop 2.9.3-2.1 (Debian 12, amd64; its mailbot is that of Courier), unpacked with its libraries and not installed.
#
# Guess: `mailbot -M ann@home.example` answers that a person is away with a text of type text/plain; -M names the person.
# Seen:  with -M the answer is a report of delivery as servers send it (RFC 3464): multipart/report with `Action: delivered` and `Status:
#        2.0.0` about the person, and the header of the message that it answers. It goes to the author of the message and not to its
#        envelope sender. A program that leaves out reports never shows that the person is away, and one that reads them counts a delivery.
set -eu
cd "$(mktemp -d)"
apt-get download -qq maildrop=2.9.3-2.1 libcourier-unicode4 courier-authlib libidn12 libidn2-0 libunistring2 libperl5.36 libpcre2-8-0 \
  libgdbm6 libltdl7 libstdc++6 libgcc-s1 2>apt.log
for package in *.deb; do dpkg -x "$package" root; done
libraries=$(find "$PWD/root" -name '*.so*' -printf '%h\n' | sort -u | paste -sd:)
printf 'I am away until Monday.\n' > away.txt
printf 'Return-Path: <b+1@bounces.shop.example>\nFrom: Shop <hello@shop.example>\nTo: ann@home.example\nSubject: Receipt\nMessage-ID: <1@shop.example>\n\nHello.\n' > message.eml
for option in '' '-Mann@home.example'; do
  LD_LIBRARY_PATH=$libraries root/usr/bin/mailbot -N -t away.txt $option -A 'From: ann@home.example' /bin/cat < message.eml > answer
  echo "mailbot${option:+ -M}:"
  sed '/^Content-Type: text.rfc822-headers/q' answer | grep -E '^(To|Content-Type|Final-Recipient|Action|Status):' | sed 's/;.*charset.*//; s/^/  /'
done | tee seen
cat > expected <<'TEXT'
mailbot:
  To: Shop <hello@shop.example>
  Content-Type: text/plain
mailbot -M:
  To: Shop <hello@shop.example>
  Content-Type: multipart/report; report-type=delivery-status;
  Content-Type: text/plain
  Content-Type: message/delivery-status
  Final-Recipient: rfc822; ann@home.example
  Action: delivered
  Status: 2.0.0
  Content-Type: text/rfc822-headers
TEXT
diff expected seen
echo 'As expected.'
