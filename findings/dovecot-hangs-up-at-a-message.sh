#!/bin/sh
# Dovecot 2.3.19.1 (Debian 12, amd64: dovecot-core and dovecot-imapd 1:2.3.19.1+dfsg1-2.1+deb12u7), unpacked with their libraries in a root
# apart and not installed. Needs root.
#
# Guess: a message whose file Dovecot may not read, as after a backup was restored by root, is refused (`NO`), or left out of the answer; the
#        client goes on with the others.
# Seen:  its size and UID are told, and at its text Dovecot closes the connection, with BYE and no answer to the command. The messages behind
#        it in the same FETCH do not come, so that a client that reads from the first one on never reads them.
set -eu
cd "$(mktemp -d)"
chmod 755 .
version=1:2.3.19.1+dfsg1-2.1+deb12u7
apt-get download -qq "dovecot-core=$version" "dovecot-imapd=$version" 2>apt.log
for package in *.deb; do dpkg -x "$package" root; done
for program in root/usr/lib/dovecot/imap root/usr/bin/doveconf; do
  LD_LIBRARY_PATH=root/usr/lib/dovecot ldd "$program" | grep -oE '[[:space:]]/[^ ]*' | while read -r library; do
    mkdir -p "root$(dirname "$library")"; cp -nL "$library" "root$library"
  done
done
mkdir -p root/etc/dovecot root/home/ann root/run/dovecot root/tmp root/dev
: > root/dev/null; chmod 666 root/dev/null
printf 'root:x:0:0::/:/bin/sh\ndovecot:x:101:101::/:/bin/sh\ndovenull:x:102:102::/:/bin/sh\nann:x:1000:1000::/home/ann:/bin/sh\n' > root/etc/passwd
printf 'root:x:0:\ndovecot:x:101:\ndovenull:x:102:\nann:x:1000:\n' > root/etc/group
cat > root/etc/dovecot/dovecot.conf <<'CONF'
ssl = no
log_path = /home/ann/log
mail_location = maildir:/home/ann/mail
CONF
mkdir -p root/home/ann/mail/new root/home/ann/mail/cur root/home/ann/mail/tmp
for number in 1 2 3; do
  printf 'From: ben@home.example\nSubject: Message %s\n\nHello.\n' $number > "root/home/ann/mail/new/178000000$number.1.home"
done
chown -R 1000:1000 root/home/ann
# Its size is in the index by then.
ask() {
  { printf "$1"; sleep 5; } | HOME=/home/ann USER=ann chroot --userspec=1000:1000 root /usr/lib/dovecot/imap 2>/dev/null |
    tr -d '\r' | grep -E '^(a|b|c|\* BYE|\* [0-9]* FETCH)|^Subject' | sed -E 's/ \([0-9.]+ \+ .*secs\)//; s/ \[[0-9-]+ [0-9:]+\]$//'
}
{
  ask 'a EXAMINE INBOX\r\nb UID FETCH 1:* (RFC822.SIZE)\r\n' | tail -n 4
  chmod 000 root/home/ann/mail/*/1780000002.*
  ask 'a EXAMINE INBOX\r\nb UID FETCH 1:* (RFC822.SIZE)\r\nc UID FETCH 1:* (BODY.PEEK[])\r\n'
} | tee seen
cat > expected <<'TEXT'
* 1 FETCH (UID 1 RFC822.SIZE 54)
* 2 FETCH (UID 2 RFC822.SIZE 54)
* 3 FETCH (UID 3 RFC822.SIZE 54)
b OK Fetch completed.
a OK [READ-ONLY] Examine completed.
* 1 FETCH (UID 1 RFC822.SIZE 54)
* 2 FETCH (UID 2 RFC822.SIZE 54)
* 3 FETCH (UID 3 RFC822.SIZE 54)
* 1 FETCH (UID 1 BODY[] {54}
Subject: Message 1
* 2 FETCH (UID 2)
* BYE FETCH failed: Internal error occurred. Refer to server log for more information.
TEXT
diff expected seen
echo 'As expected.'
