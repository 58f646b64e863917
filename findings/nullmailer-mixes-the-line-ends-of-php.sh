#!/bin/sh
# nullmailer 1:2.2-4 (Debian 12, amd64), unpacked and not installed; input as PHP 8 writes it for mail() (php-src issue 8086).
#
# Guess: PHP 8 ends each line of a header with CRLF. A program that stands in for sendmail reads lines, so SMTP has CRLF at each of them.
# Seen:  nullmailer writes the fields that name addresses and moments anew, and takes the CR of all others for a part of their line: these
#        leave with CR CR LF, between lines with CRLF. So do the lines of the body. A server that takes a CR for a line end sees the header end there.
set -eu
cd "$(mktemp -d)"
apt-get download -qq nullmailer=1:2.2-4 2>apt.log
dpkg -x nullmailer_*.deb root
cat > server.js <<'JS'
const { appendFileSync, writeFileSync } = require('node:fs');
require('node:net').createServer((socket) => {
  let text = null;
  socket.on('error', () => socket.destroy());
  socket.write('220 mx\r\n');
  socket.on('data', (data) => {
    if (text !== null) text += data;
    else if (/^DATA/.test(data)) { text = ''; socket.write('354 go on\r\n'); return; }
    else if (/^QUIT/.test(data)) { socket.end('221 bye\r\n'); return; }
    if (text === null) socket.write('250 ok\r\n');
    else if (text.endsWith('\r\n.\r\n')) { writeFileSync('octets', text); text = null; socket.write('250 ok\r\n'); }
  });
}).listen(0, '127.0.0.1', function () { writeFileSync('port', `${this.address().port}\n`); });
JS
node server.js & server=$!
trap 'kill $server' EXIT
while [ ! -s port ]; do sleep 0.1; done
# The octets that mail('ann@home.example', 'Hello', "One\r\nTwo\r\n", ['From' => …, 'MIME-Version' => '1.0']) gives to sendmail_path.
printf 'To: ann@home.example\r\nSubject: Hello\r\nFrom: Ada <ada@shop.example>\r\nMIME-Version: 1.0\r\n\r\nOne\r\nTwo\r\n' > php
root/usr/bin/nullmailer-inject -n < php > made
{ printf 'ada@shop.example\nann@home.example\n\n'; cat made; } > queued
printf 'host=127.0.0.1\nport=%s\n\n' "$(cat port)" | HELOHOST=shop.example root/usr/lib/nullmailer/smtp 3< queued
sed -e 's/\r/<CR>/g' -e 's/$/<LF>/' -e '/^Date\|^Message-Id/s/: [^<]*.*<CR><LF>$/: …<CR><LF>/' octets | tee seen
cat > expected <<'TEXT'
To: ann@home.example<CR><LF>
Subject: Hello<CR><CR><LF>
From: Ada <ada@shop.example><CR><LF>
MIME-Version: 1.0<CR><CR><LF>
Date: …<CR><LF>
Message-Id: …<CR><LF>
<CR><LF>
One<CR><CR><LF>
Two<CR><CR><LF>
.<CR><LF>
TEXT
diff expected seen
echo 'As expected.'
