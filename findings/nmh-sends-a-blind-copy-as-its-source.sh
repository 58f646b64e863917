#!/bin/sh
# nmh 1.8~RC2-2 (Debian 12, amd64), unpacked with its libraries in a root apart and not installed. Needs root and Node.
#
# Guess: a person in Bcc gets the message that all others get, without the Bcc field.
# Seen:  the person gets another message: a text without MIME-Version that begins with "------- Blind-Carbon-Copy", with the source of
#        the message below. A file is lines of base64 in that text, and each delimiter of parts begins with "- ", so that no program finds
#        the parts. RFC 934 put messages into messages so, in 1985. It has an empty BCC field too.
set -eu
cd "$(mktemp -d)"
chmod 755 .
apt-get download -qq nmh=1.8~RC2-2 liblockfile1 libsasl2-2 libtinfo6 libgdbm6 libgdbm-compat4 libssl3 libcurl4 2>apt.log
for package in *.deb; do dpkg -x "$package" root; done
export LD_LIBRARY_PATH="$PWD/root/usr/lib/x86_64-linux-gnu:$PWD/root/lib/x86_64-linux-gnu"
for program in root/usr/bin/mh/send root/usr/bin/mh/mhbuild root/usr/lib/mh/post; do
  ldd "$program" | grep -o '/[^ ]*' | while read -r library; do mkdir -p "root$(dirname "$library")"; cp -nL "$library" "root$library" 2>/dev/null || true; done
done
cp -nL /lib64/ld-linux-x86-64.so.2 root/lib64/ 2>/dev/null || { mkdir -p root/lib64; cp -L /lib64/ld-linux-x86-64.so.2 root/lib64/; }
cat > server.js <<'JS'
const { appendFileSync, writeFileSync } = require('node:fs');
require('node:net').createServer((socket) => {
  let isText = false;
  let rest = '';
  socket.on('error', () => socket.destroy());
  socket.write('220 mx\r\n');
  socket.setEncoding('latin1').on('data', (data) => {
    const lines = (rest + data).split('\r\n');
    rest = lines.pop();
    for (const line of lines) {
      if (isText || /^(?:MAIL|RCPT|RSET|DATA)/.test(line)) appendFileSync('sent', `${line}\n`, 'latin1');
      if (isText && line !== '.') continue;
      isText = line === 'DATA';
      if (line === 'QUIT') socket.end('221 bye\r\n');
      else socket.write(isText ? '354 go on\r\n' : '250 ok\r\n');
    }
  });
}).listen(0, '127.0.0.1', function () { writeFileSync('port', `${this.address().port}\n`); });
JS
node server.js & server=$!
trap 'kill $server' EXIT
while [ ! -s port ]; do sleep 0.1; done
mkdir -p root/dev root/etc root/tmp root/home/Mail
: > root/dev/null
printf 'root:x:0:0::/home:/bin/sh\n' > root/etc/passwd
printf '127.0.0.1 localhost\n' > root/etc/hosts
printf 'Path: Mail\nLocal-Mailbox: hello@shop.example\n' > root/home/.mh_profile
printf '%%PDF-1.4 x' > root/home/a.pdf
cat > root/home/draft <<'TEXT'
From: hello@shop.example
To: ann@home.example
Bcc: ben@home.example
Subject: Report
--------
Hello.
#application/pdf /home/a.pdf
TEXT
unset LD_LIBRARY_PATH
run() { env -i PATH=/usr/sbin:/usr/bin HOME=/home LC_ALL=C /usr/sbin/chroot root "$@"; }
run /usr/bin/mh/mhbuild /home/draft
run /usr/bin/mh/send -mts smtp -server 127.0.0.1 -port "$(cat port)" -nosasl -notls /home/draft
sed -e "/^MAIL/d; /^RSET/d; /^DATA/d" sent > kept
sed -e "/^Message-ID:/Id; /^Date:/d; /^Content-ID:/Id" kept | tac | sed "/^RCPT/q" | tac | tee seen
cat > expected <<'TEXT'
RCPT TO:<ben@home.example>
From: hello@shop.example
Subject: Report
BCC:

------- Blind-Carbon-Copy

From: hello@shop.example
To: ann@home.example
Subject: Report
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary="----- =_aaaaaaaaaa0"

- ------- =_aaaaaaaaaa0
Content-Type: text/plain; charset="us-ascii"

Hello.

- ------- =_aaaaaaaaaa0
Content-Type: application/pdf
Content-Transfer-Encoding: base64

JVBERi0xLjQgeA==

- ------- =_aaaaaaaaaa0--

------- End of Blind-Carbon-Copy
.
TEXT
diff expected seen
echo 'As expected.'
