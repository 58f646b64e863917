#!/bin/sh
# Pigeonhole 0.5.19 on Dovecot 2.3.19.1 (Debian 12, amd64: dovecot-core and dovecot-sieve 1:2.3.19.1+dfsg1-2.1+deb12u7), unpacked with
# their libraries in a root apart and not installed. Needs root.
#
# Guess: the answer of `vacation`, "I am away and read it later", is sent once the message is in the mailbox: not where that is full and the
#        message goes back. The report about that has a block about the message and one about the recipient, with an empty line between.
# Seen:  the answer goes out, and then the report that the message was rejected: the sender has both. The report has one block of fields, and
#        its reason, "Quota exceeded (mailbox for user is full)", in the text alone.
set -eu
cd "$(mktemp -d)"
chmod 755 .
version=1:2.3.19.1+dfsg1-2.1+deb12u7
apt-get download -qq "dovecot-core=$version" "dovecot-sieve=$version" 2>apt.log
for package in *.deb; do dpkg -x "$package" root; done
for program in root/usr/lib/dovecot/dovecot-lda root/usr/bin/doveconf root/usr/lib/dovecot/modules/lib90_sieve_plugin.so root/usr/lib/dovecot/modules/lib10_quota_plugin.so; do
  LD_LIBRARY_PATH=root/usr/lib/dovecot ldd "$program" | grep -oE '[[:space:]]/[^ ]*' | while read -r library; do
    mkdir -p "root$(dirname "$library")"; cp -nL "$library" "root$library"
  done
done
cat > server.js <<'JS'
const { writeFileSync } = require("node:fs");
let number = 0;
require("node:net").createServer((socket) => {
  let text = null;
  socket.on("error", () => socket.destroy());
  socket.write("220 mx\r\n");
  socket.on("data", (data) => {
    for (const line of String(data).split("\r\n").slice(0, -1)) {
      if (text !== null && line !== ".") text += `${line}\n`;
      else if (text !== null) writeFileSync(`report${++number}`, text), (text = null), socket.write("250 ok\r\n");
      else if (/^DATA/i.test(line)) (text = ""), socket.write("354 go on\r\n");
      else if (/^QUIT/i.test(line)) socket.end("221 bye\r\n");
      else socket.write("250 ok\r\n");
    }
  });
}).listen(0, "127.0.0.1", function () { writeFileSync("port", `${this.address().port}\n`); });
JS
node server.js & server=$!
trap 'kill $server' EXIT
while [ ! -s port ]; do sleep 0.1; done
mkdir -p root/etc/dovecot root/home/ann root/run/dovecot root/tmp root/dev
: > root/dev/null; chmod 666 root/dev/null
printf 'root:x:0:0::/:/bin/sh\ndovecot:x:101:101::/:/bin/sh\ndovenull:x:102:102::/:/bin/sh\nann:x:1000:1000::/home/ann:/bin/sh\n' > root/etc/passwd
printf 'root:x:0:\ndovecot:x:101:\ndovenull:x:102:\nann:x:1000:\n' > root/etc/group
cat > root/etc/dovecot/dovecot.conf <<CONF
ssl = no
log_path = /home/ann/log
mail_location = maildir:/home/ann/mail
mail_plugins = quota sieve
submission_host = 127.0.0.1:$(cat port)
postmaster_address = postmaster@home.example
hostname = mx.home.example
plugin {
  quota = maildir:User quota
  quota_rule = *:storage=1k
  sieve = file:/home/ann/filter.sieve
}
CONF
printf 'require "vacation";\nvacation :addresses "ann@home.example" "I am away, and read it later.";\n' > root/home/ann/filter.sieve
chown -R 1000:1000 root/home/ann
printf 'From: Shop <hello@shop.example>\nTo: ann@home.example\nSubject: Receipt\nMessage-ID: <1@shop.example>\n\n%s\n' "$(seq -s ' ' 500)" > message.eml
HOME=/home/ann USER=ann chroot --userspec=1000:1000 root /usr/lib/dovecot/dovecot-lda \
  -f b+1@bounces.shop.example -a ann@home.example < message.eml
for report in report1 report2; do
  sed '/^Content-Type: message.rfc822/q' $report |
    grep -E '^(To|Subject|Auto-Submitted|Reporting|Final-Recipient|Action|Status|Diagnostic|Your|Quota|I am)|^$' | uniq
done | tee seen
cat > expected <<'TEXT'
To: <b+1@bounces.shop.example>
Subject: Auto: Receipt
Auto-Submitted: auto-replied (vacation)

I am away, and read it later.
To: <b+1@bounces.shop.example>
Subject: Rejected: Receipt
Auto-Submitted: auto-replied (rejected)

Your message to <ann@home.example> was automatically rejected:
Quota exceeded (mailbox for user is full)

Reporting-MTA: dns; mx.home.example
Final-Recipient: rfc822; ann@home.example
Action: failed
Status: 5.2.2

TEXT
diff expected seen
echo 'As expected.'
