#!/bin/sh
# nullmailer 1:2.2-4 (Debian 12, amd64), unpacked with its libraries in a root apart and not installed. Needs root.
#
# Guess: where the time for a message is over, the last report has `Action: failed` (RFC 3464 2.3.3), as those of Exim and Postfix do
#        after days of 452; `Action: delayed` says that the server goes on.
# Seen:  the message is put with the failed ones, and its only report says `Action: delayed` and promises another report, which never
#        comes: who counts failures by the action alone waits for ever.
set -eu
cd "$(mktemp -d)"
chmod 755 .
apt-get download -qq nullmailer=1:2.2-4 2>apt.log
dpkg -x nullmailer_*.deb root
for program in root/usr/sbin/nullmailer-send root/usr/sbin/nullmailer-queue root/usr/bin/nullmailer-dsn root/usr/lib/nullmailer/smtp; do
  ldd "$program" | grep -o '/[^ ]*' | while read -r library; do mkdir -p "root$(dirname "$library")"; cp -nL "$library" "root$library"; done
done
cat > server.js <<'JS'
const { writeFileSync } = require("node:fs");
require("node:net").createServer((socket) => {
  let text = null;
  socket.on("error", () => socket.destroy());
  socket.write("220 mx\r\n");
  socket.on("data", (data) => {
    for (const line of String(data).split("\r\n").slice(0, -1)) {
      if (text !== null && line !== ".") text += `${line}\n`;
      else if (text !== null) writeFileSync("report", text), (text = null), socket.write("250 ok\r\n");
      else if (/^DATA/i.test(line)) (text = ""), socket.write("354 go on\r\n");
      else if (/^QUIT/i.test(line)) socket.end("221 bye\r\n");
      else socket.write(/^RCPT TO:<bob@/i.test(line) ? "452 4.2.2 Mailbox full\r\n" : "250 ok\r\n");
    }
  });
}).listen(0, "127.0.0.1", function () { writeFileSync("port", `${this.address().port}\n`); });
JS
node server.js & server=$!
trap 'kill $server $sender' EXIT
sender=$server
while [ ! -s port ]; do sleep 0.1; done
spool=root/var/spool/nullmailer
mkdir -p root/dev root/etc/nullmailer "$spool/failed"
: > root/dev/null
mkfifo "$spool/trigger"
echo "127.0.0.1 smtp --port=$(cat port)" > root/etc/nullmailer/remotes
echo mx.example.com > root/etc/mailname
for name in pausetime maxpause; do echo 1 > "root/etc/nullmailer/$name"; done
echo 2 > root/etc/nullmailer/queuelifetime
printf 'ada@sender.example\nbob@receiver.example\n\nSubject: Hello\n\nHello.\n' > "$spool/queue/1"
chroot root /usr/sbin/nullmailer-send >send.log 2>&1 & sender=$!
for _ in $(seq 150); do [ -s report ] && break; sleep 0.2; done
sleep 2
{ grep -E '^(Action|Status|A final)' report; echo "waiting: $(ls "$spool/queue" | wc -l), failed: $(ls "$spool/failed" | wc -l)"; } | tee seen
cat > expected <<'TEXT'
A final delivery status notification will be generated if delivery
Action: delayed
Status: 4.2.2
waiting: 0, failed: 1
TEXT
diff expected seen
echo 'As expected.'
