#!/bin/sh
# msmtp 1.8.23 (Debian 12: msmtp 1.8.23-1, amd64), unpacked with its libraries and not installed; Python 3.11 reads.
#
# Guess: `sendmail -t` of msmtp leaves the first line of a mail from `git format-patch` ("From 3f2a… Mon Sep 17 00:00:00 2001") out, as the
#        sendmail of Postfix, Exim and Sendmail does: it is the line of an mbox and no field.
# Seen:  the line is sent, and behind the Message-ID that msmtp adds: it is no first line any more, by which readers know it. Python's
#        strict reader counts it as a defect, and a server that ends a header at the first line that is no field finds no From.
set -eu
cd "$(mktemp -d)"
apt-get download -qq msmtp=1.8.23-1 libgsasl18 libgnutls30 libidn2-0 libsecret-1-0 libglib2.0-0 libgssglue1 libntlm0 libidn12 libunistring2 libnettle8 libhogweed6 libp11-kit0 libtasn1-6 libffi8 2>apt.log
for package in *.deb; do dpkg -x "$package" root; done
libraries=$(find "$PWD/root" -name '*.so*' -printf '%h\n' | sort -u | paste -sd:)
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
      if (isText && line !== '.') appendFileSync('sent', `${line}\n`, 'latin1');
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
printf 'account default\nhost 127.0.0.1\nport %s\nfrom ada@shop.example\n' "$(cat port)" > msmtprc
chmod 600 msmtprc
cat > 0001.patch <<'TEXT'
From 3f2a1b4c5d6e7f8091a2b3c4d5e6f708192a3b4c Mon Sep 17 00:00:00 2001
From: Ada <ada@shop.example>
To: ann@home.example
Date: Tue, 1 Dec 2026 09:00:00 +0100
Subject: [PATCH] Turn the lamp on

---
TEXT
LD_LIBRARY_PATH=$libraries root/usr/bin/msmtp -C msmtprc -t < 0001.patch
{
  sed -e 's/^Message-ID: .*/Message-ID: …/' sent
  python3 - <<'PY'
import email, email.policy
message = email.message_from_binary_file(open('sent', 'rb'), policy=email.policy.default)
print('defects:', [type(defect).__name__ for defect in message.defects])
PY
} | tee seen
cat > expected <<'TEXT'
Message-ID: …
From 3f2a1b4c5d6e7f8091a2b3c4d5e6f708192a3b4c Mon Sep 17 00:00:00 2001
From: Ada <ada@shop.example>
To: ann@home.example
Date: Tue, 1 Dec 2026 09:00:00 +0100
Subject: [PATCH] Turn the lamp on

---
defects: ['MisplacedEnvelopeHeaderDefect']
TEXT
diff expected seen
echo 'As expected.'
