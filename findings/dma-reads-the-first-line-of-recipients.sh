#!/bin/sh
# dma 0.13-1+b1 (DragonFly Mail Agent; Debian 12, amd64), unpacked with its libraries in a root apart and not installed. Needs root.
#
# Guess: `sendmail -t` of dma takes all recipients of To, Cc and Bcc. Long lists are folded into lines, by mutt, Python and PHP too.
# Seen:  it reads the first line of each field alone: who is named on the next ones has no message, and a field whose first line is empty has
#        no recipient at all. The message names them all, nothing is queued for them, and the exit code is 0.
set -eu
cd "$(mktemp -d)"
chmod 755 .
apt-get download -qq dma=0.13-1+b1 2>apt.log
dpkg -x dma_*.deb root
ldd root/usr/sbin/dma | grep -o '/[^ ]*' | while read -r library; do mkdir -p "root$(dirname "$library")"; cp -nL "$library" "root$library"; done
cat > server.js <<'JS'
const { appendFileSync, writeFileSync } = require('node:fs');
require('node:net').createServer((socket) => {
  let isText = false;
  socket.on('error', () => socket.destroy());
  socket.write('220 mx\r\n');
  socket.on('data', (data) => {
    for (const line of String(data).split('\r\n').slice(0, -1)) {
      if (isText && line !== '.') continue;
      isText = line === 'DATA';
      if (/^RCPT/.test(line)) appendFileSync('recipients', `${line}\n`);
      if (line === 'QUIT') socket.end('221 bye\r\n');
      else socket.write(isText ? '354 go on\r\n' : '250 ok\r\n');
    }
  });
}).listen(0, '127.0.0.1', function () { writeFileSync('port', `${this.address().port}\n`); });
JS
node server.js & server=$!
trap 'kill $server' EXIT
while [ ! -s port ]; do sleep 0.1; done
mkdir -p root/dev root/etc/dma root/var/spool/dma
: > root/dev/null
printf 'root:x:0:0::/:/bin/sh\nmail:x:8:8::/:/bin/sh\n' > root/etc/passwd
printf 'root:x:0:\nmail:x:8:\n' > root/etc/group
printf 'SMARTHOST 127.0.0.1\nPORT %s\nMAILNAME shop.example\n' "$(cat port)" > root/etc/dma/dma.conf
chmod 777 root/var/spool/dma
: > recipients
send() {
  code=0
  chroot root /usr/sbin/dma -D -i -t || code=$?
  sleep 2
  echo "$(sort recipients | paste -sd' '), exit code $code"
  : > recipients
}
{
  printf 'From: ada@shop.example\nTo: ann@home.example, ben@home.example,\n cid@home.example,\n\tdan@home.example\nSubject: a\n\nHello\n' | send
  printf 'From: ada@shop.example\nTo: ann@home.example,\n ben@home.example,\n cid@home.example\nCc:\n eve@home.example\nSubject: b\n\nHello\n' | send
  printf 'From: ada@shop.example\nTo: ann@home.example, ben@home.example, cid@home.example\nCc: eve@home.example\nSubject: c\n\nHello\n' | send
  echo "queued: $(find root/var/spool/dma -name 'Q*' | wc -l)"
} | tee seen
cat > expected <<'TEXT'
RCPT TO:<ann@home.example> RCPT TO:<ben@home.example>, exit code 0
RCPT TO:<ann@home.example>, exit code 0
RCPT TO:<ann@home.example> RCPT TO:<ben@home.example> RCPT TO:<cid@home.example> RCPT TO:<eve@home.example>, exit code 0
queued: 0
TEXT
diff expected seen
echo 'As expected.'
