#!/bin/sh
# courier-imap 5.0.13+1.0.16-3+b6 and mailutils-imap4d 1:3.15-4 (Debian 12, amd64), unpacked with their libraries and not installed.
#
# Guess: in a folder of two messages `UID SEARCH UID *` finds the last one and `UID SEARCH UID 1:*` both, as RFC 9051 (6.4.4, 9) has it;
#        a client that asks for "all from the next UID on" by a search misses nothing.
# Seen:  Courier finds none by `*` and both by `1:*`; GNU Mailutils finds none by `1:*`, says OK, and refuses `*`. Both find them by
#        `UID FETCH 1:* (UID)`. Courier names no UIDNEXT either, so that a client learns the last UID from no search.
set -eu
cd "$(mktemp -d)"
apt-get download -qq courier-imap=5.0.13+1.0.16-3+b6 courier-base libcourier-unicode4 courier-authlib libidn12 libgamin0 \
  mailutils-imap4d=1:3.15-4 libmailutils9=1:3.15-4 libgsasl18 libgssglue1 libntlm0 libwrap0 libmariadb3 2>apt.log
for package in *.deb; do dpkg -x "$package" root; done
libraries=$(find "$PWD/root" -name '*.so*' -printf '%h\n' | sort -u | paste -sd:)
mkdir -p mail/cur mail/new mail/tmp spool
for name in a b; do
  printf 'Subject: %s\n\nHello.\n' "$name" > "mail/cur/1.$name"
  printf 'From a@b.example Mon Nov 30 08:00:00 2026\nSubject: %s\n\nHello.\n\n' "$name" >> "spool/$(id -un)"
done
printf 'mailbox { mail-spool %s/spool; };\npreauth stdio;\n' "$PWD" > mailutils.conf
# Courier reads a command only once the one before is answered.
talk() {
  printf 'a EXAMINE INBOX\r\n'; sleep 2
  printf 'b UID SEARCH UID *\r\n'; sleep 1
  printf 'c UID SEARCH UID 1:*\r\n'; sleep 1
  printf 'd UID FETCH 1:* (UID)\r\n'; sleep 1
  printf 'e LOGOUT\r\n'
}
seen() { tr -d '\r' | grep -E '^(\* SEARCH|\* [0-9]+ FETCH|\* OK \[UIDNEXT|[bcd] )'; }
talk | AUTHENTICATED=ada IMAP_CAPABILITY=IMAP4rev1 TCPREMOTEIP=127.0.0.1 TCPREMOTEPORT=1 LD_LIBRARY_PATH=$libraries \
  root/usr/bin/imapd "$PWD/mail" 2>courier.log | seen | sed 's/^/courier: /' | tee courier
talk | LD_LIBRARY_PATH=$libraries root/usr/sbin/imap4d --no-config --config-file=mailutils.conf --inetd 2>mailutils.log |
  seen | sed 's/^/mailutils: /' | tee mailutils
cat > expected <<'TEXT'
courier: * SEARCH
courier: b OK SEARCH done.
courier: * SEARCH 1 2
courier: c OK SEARCH done.
courier: * 1 FETCH (UID 1)
courier: * 2 FETCH (UID 2)
courier: d OK FETCH completed.
mailutils: * OK [UIDNEXT 3] Predicted next uid
mailutils: b BAD UID SEARCH Bogus number set
mailutils: * SEARCH
mailutils: c OK UID SEARCH Completed
mailutils: * 1 FETCH (UID 1)
mailutils: * 2 FETCH (UID 2)
mailutils: d OK UID FETCH Completed
TEXT
cat courier mailutils | diff expected -
echo 'As expected.'
