#!/bin/sh
# vacation 3.3.3 (Debian 12, amd64), in a folder with its libraries (chroot) and not installed.
#
# Guess: vacation answers neither an automatic message nor a newsletter with List-Id and List-Unsubscribe. Its answer is marked as automatic
#        (`Auto-Submitted: auto-replied`, RFC 3834, 5) and has an empty envelope sender, so that no program answers it again.
# Seen:  it answers the newsletter, unless that has Precedence or Auto-Submitted. The answer has the fields of the text that the person wrote
#        and no others: no Auto-Submitted and no In-Reply-To. It goes to the address for bounces, from the person's own address:
#        a service counts it as a bounce or as a letter written by hand. $SUBJECT in the text is an encoded word.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
apt-get download -qq vacation=3.3.3 libc6 libdb5.3 dash 2>apt.log
for package in *.deb; do dpkg -x "$package" root; done
mkdir -p root/etc root/tmp root/home/ann root/usr/lib root/usr/sbin root/dev
cp -a /dev/null root/dev/
echo 'ann:x:0:0::/home/ann:/bin/sh' > root/etc/passwd
printf 'From: Ann <ann@home.example>\nSubject: Away\n\nI am away. Your "$SUBJECT" has to wait.\n' > root/home/ann/.vacation.msg
cat > root/usr/sbin/sendmail <<'SH'
#!/bin/sh
echo "sendmail $*"
while read -r line; do echo "  $line"; done
SH
chmod +x root/usr/sbin/sendmail
ln root/usr/sbin/sendmail root/usr/lib/sendmail
try() {
  printf '%s:\n' "$1"
  rm -f root/home/ann/.vacation.db
  HOME=/home/ann chroot root /usr/bin/vacation -I ann >vacation.log 2>&1 </dev/null || true
  {
    echo 'From b+1@bounces.shop.example Mon Nov 30 12:00:00 2026'
    printf 'From: Shop <hello@shop.example>\nTo: ann@home.example\nSubject: =?UTF-8?Q?Gr=C3=BC=C3=9Fe?=\n%b\nHello.\n' "$2"
  } |
    HOME=/home/ann chroot root /usr/bin/vacation -j ann 2>&1 | cat
}
{
  try 'a letter' ''
  try 'a newsletter' 'List-Id: <news.shop.example>\nList-Unsubscribe: <https://shop.example/1>\n'
  try 'with Precedence' 'Precedence: list\n'
  try 'with Auto-Submitted' 'Auto-Submitted: auto-generated\n'
} | grep '[^ ]' | tee seen
cat > expected <<'TEXT'
a letter:
sendmail -f ann -- b+1@bounces.shop.example
  To: b+1@bounces.shop.example
  From: Ann <ann@home.example>
  Subject: Away
  I am away. Your "=?UTF-8?Q?Gr=C3=BC=C3=9Fe?=" has to wait.
a newsletter:
sendmail -f ann -- b+1@bounces.shop.example
  To: b+1@bounces.shop.example
  From: Ann <ann@home.example>
  Subject: Away
  I am away. Your "=?UTF-8?Q?Gr=C3=BC=C3=9Fe?=" has to wait.
with Precedence:
with Auto-Submitted:
TEXT
diff expected seen
echo 'As expected.'
