#!/bin/sh
# GNU Mailutils 3.15 (Debian 12: mailutils 1:3.15-4) and Pigeonhole 0.5.19 on Dovecot 2.3.19.1 (dovecot-core and dovecot-sieve
# 1:2.3.19.1+dfsg1-2.1+deb12u7), unpacked with their libraries in a root apart and not installed. Needs root.
#
# Guess: a filter for the subject "Grüße" and the sender "Müller" finds the message in both, since RFC 5228 (2.7.2) has fields decoded
#        before they are compared.
# Seen:  Mailutils compares the encoded words as they stand, and finds neither; the address and the first words in ASCII it finds. A filter
#        that works in Dovecot leaves all mail with such a subject where it is.
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
apt-get download -qq mailutils=1:3.15-4 libmailutils9=1:3.15-4 libgsasl18 libgssglue1 libntlm0 libmariadb3 libpq5 \
  libldap-2.5-0 libsasl2-2 libidn12 libunistring2 2>apt.log
for package in *mailutils*.deb lib*.deb; do dpkg -x "$package" other; done
libraries=$(find "$PWD/other" -name '*.so*' -printf '%h\n' | sort -u | paste -sd:)
cat > root/home/ann/message.eml <<'TEXT'
From: =?UTF-8?Q?M=C3=BCller?= <hello@shop.example>
To: ann@home.example
Subject: Shop: =?UTF-8?Q?Gr=C3=BC=C3=9Fe?=

Hello.
TEXT
{ echo 'From hello@shop.example Mon Nov 30 12:00:00 2026'; cat root/home/ann/message.eml; echo; } > mailbox
try() {
  printf 'require "fileinto";\nif %s { fileinto "Found"; }\n' "$1" > root/home/ann/filter.sieve
  printf '%s: Mailutils ' "$1"
  LC_ALL=C.UTF-8 LD_LIBRARY_PATH=$libraries other/usr/bin/sieve -n -v -f mailbox root/home/ann/filter.sieve 2>&1 |
    grep -q FILEINTO && printf found || printf 'not found'
  printf ', Pigeonhole '
  HOME=/home/ann USER=ann chroot --userspec=1000:1000 root /usr/bin/sieve-test /home/ann/filter.sieve /home/ann/message.eml 2>/dev/null |
    grep -q 'folder: Found' && echo found || echo 'not found'
}
{
  try 'header :contains "subject" "Grüße"'
  try 'header :contains "from" "Müller"'
  try 'header :contains "subject" "Shop:"'
  try 'address :is "from" "hello@shop.example"'
} | tee seen
cat > expected <<'TEXT'
header :contains "subject" "Grüße": Mailutils not found, Pigeonhole found
header :contains "from" "Müller": Mailutils not found, Pigeonhole found
header :contains "subject" "Shop:": Mailutils found, Pigeonhole found
address :is "from" "hello@shop.example": Mailutils found, Pigeonhole found
TEXT
diff expected seen
echo 'As expected.'
