#!/bin/sh
# Pigeonhole 0.5.19 on Dovecot 2.3.19.1 (Debian 12, amd64: dovecot-core and dovecot-sieve 1:2.3.19.1+dfsg1-2.1+deb12u7), unpacked with
# their libraries in a root apart and not installed. Needs root.
#
# Guess: `header :value "ge" :comparator "i;ascii-numeric" "X-Spam-Score" "5"` files messages with a score of 5 and more.
# Seen:  it files those with a score below zero as well, the least likely spam: a text that does not begin with a digit is the largest number
#        of all (RFC 4790, 9.1.1), and so are `+1.0`, a dash and a word. A message without the field stays.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
chmod 755 .
version=1:2.3.19.1+dfsg1-2.1+deb12u7
apt-get download -qq "dovecot-core=$version" "dovecot-sieve=$version" 2>apt.log
for package in *.deb; do dpkg -x "$package" root; done
for program in root/usr/bin/sieve-test root/usr/bin/doveconf root/usr/lib/dovecot/modules/lib90_sieve_plugin.so; do
  LD_LIBRARY_PATH=root/usr/lib/dovecot ldd "$program" | grep -oE '[[:space:]]/[^ ]*' | while read -r library; do
    mkdir -p "root$(dirname "$library")"; cp -nL "$library" "root$library"
  done
done
mkdir -p root/etc/dovecot root/home/ann/mail root/run/dovecot root/tmp root/dev
: > root/dev/null; chmod 666 root/dev/null
printf 'root:x:0:0::/:/bin/sh\nann:x:1000:1000::/home/ann:/bin/sh\n' > root/etc/passwd
printf 'root:x:0:\nann:x:1000:\n' > root/etc/group
printf 'ssl = no\nlog_path = /home/ann/log\nmail_location = maildir:/home/ann/mail\n' > root/etc/dovecot/dovecot.conf
chown -R 1000:1000 root/home/ann
cat > root/home/ann/filter.sieve <<'SIEVE'
require ["fileinto", "relational", "comparator-i;ascii-numeric"];
if header :value "ge" :comparator "i;ascii-numeric" "X-Spam-Score" "5" { fileinto "Spam"; }
SIEVE
for score in 7.2 5 4.9 0.3 -1.5 -20 +1.0 - none; do
  {
    printf 'From: Shop <hello@shop.example>\nTo: ann@home.example\nSubject: Receipt\n'
    [ $score = none ] || printf 'X-Spam-Score: %s\n' $score
    printf '\nHello.\n'
  } > root/home/ann/message.eml
  printf '%s: ' $score
  HOME=/home/ann USER=ann chroot --userspec=1000:1000 root /usr/bin/sieve-test /home/ann/filter.sieve /home/ann/message.eml 2>/dev/null |
    sed -n 's/.*store message in folder: //p'
done | tee seen
cat > expected <<'TEXT'
7.2: Spam
5: Spam
4.9: INBOX
0.3: INBOX
-1.5: Spam
-20: Spam
+1.0: Spam
-: Spam
none: INBOX
TEXT
diff expected seen
echo 'As expected.'
