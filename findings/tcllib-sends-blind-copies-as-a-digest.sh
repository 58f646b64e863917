#!/bin/sh
# Tcllib 1.21+dfsg-1 on Tcl 8.6.13+dfsg-2 (Debian 12), unpacked with their libraries and not installed.
#
# Guess: `smtp::sendmessage` with a Bcc header sends one message to all recipients, without the Bcc field, as every other library does.
# Seen:  it sends two. A recipient in Bcc gets another message: the subject has `[Bcc]` before it, and the message that the others got is
#        a message/rfc822 part of a multipart/digest, with another Message-ID around it and an empty Bcc field. Many mail programs show it
#        as an attachment, and it is no part of the thread.
set -eu
cd "$(mktemp -d)"
apt-get download -qq tcllib=1.21+dfsg-1 tcl8.6=8.6.13+dfsg-2 libtcl8.6=8.6.13+dfsg-2 zlib1g 2>apt.log
for package in *.deb; do dpkg -x "$package" root; done
libraries=$(find "$PWD/root" -name '*.so*' -printf '%h\n' | sort -u | paste -sd:)
cat > server.js <<'JS'
const { writeFileSync } = require("node:fs");
require("node:net").createServer((socket) => {
  let isData = false;
  socket.on("error", () => socket.destroy());
  socket.write("220 mx\r\n");
  socket.on("data", (data) => {
    for (const line of String(data).split("\r\n").slice(0, -1)) {
      if (isData) {
        if (/^(To|Bcc|Subject|Content-Type):/.test(line)) console.log(`  ${line}`.trimEnd());
        if (line === ".") (isData = false), socket.write("250 ok\r\n");
      } else if (/^RCPT TO:/i.test(line)) console.log(line), socket.write("250 ok\r\n");
      else if (/^DATA/i.test(line)) (isData = true), socket.write("354 go on\r\n");
      else if (/^QUIT/i.test(line)) socket.end("221 bye\r\n");
      else socket.write("250 ok\r\n");
    }
  });
}).listen(0, "127.0.0.1", function () { writeFileSync("port", `${this.address().port}\n`); });
JS
node server.js > seen & server=$!
trap 'kill $server' EXIT
while [ ! -s port ]; do sleep 0.1; done
cat > send.tcl <<'TCL'
package require mime
package require smtp
set message [mime::initialize -canonical text/plain -string "Hello."]
smtp::sendmessage $message -servers 127.0.0.1 -ports [lindex $argv 0] -usetls 0 -header {From hello@shop.example} \
  -header {To ann@home.example} -header {Bcc ben@home.example} -header {Subject Hello}
TCL
LD_LIBRARY_PATH=$libraries TCL_LIBRARY=$PWD/root/usr/share/tcltk/tcl8.6 TCLLIBPATH=$PWD/root/usr/share/tcltk \
  root/usr/bin/tclsh8.6 send.tcl "$(cat port)"
cat seen
cat > expected <<'TEXT'
RCPT TO:<ann@home.example>
  To: ann@home.example
  Subject: Hello
  Content-Type: text/plain
RCPT TO:<ben@home.example>
  Bcc:
  Subject: [Bcc] Hello
  Content-Type: multipart/digest;
  Content-Type: message/rfc822
  To: ann@home.example
  Subject: Hello
  Content-Type: text/plain
TEXT
diff expected seen
echo 'As expected.'
