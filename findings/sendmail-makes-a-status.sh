#!/bin/sh
# sendmail-bin 8.17.1.9-2+deb12u2 (Debian 12, amd64), unpacked with its libraries and not installed. Needs root, for a host name apart.
#
# Guess: a server without status codes says "550 Blocked by a policy"; the report has the status 5.0.0 beside these words, as those of
#        Exim and Postfix do, and a reader that suppresses by 5.1.1 alone suppresses no address.
# Seen:  Sendmail makes a status of the number alone: 550 is 5.1.1 and "User unknown", 551 is 5.1.6 (moved), 552 is 5.2.2 (full),
#        553 is 5.1.3 (bad address), and 554 is 5.0.0. What the server has said is in Diagnostic-Code only.
set -eu
cd "$(mktemp -d)"
chmod 755 .
apt-get download -qq sendmail-bin=8.17.1.9-2+deb12u2 libdb5.3 libldap-2.5-0 libnsl2 libsasl2-2 libwrap0 libtirpc3 2>apt.log
for package in *.deb; do dpkg -x "$package" root; done
libraries=$(find "$PWD/root" -name '*.so*' -printf '%h\n' | sort -u | paste -sd:)
chmod g-s root/usr/libexec/sendmail/sendmail
cat > server.js <<'JS'
const answer = (line) =>
  /^RCPT TO:<(\d{3})@/i.exec(line)?.[1] ?? (/^DATA/i.test(line) ? "503" : /^QUIT/i.test(line) ? "221" : "250");
require("node:net").createServer((socket) => {
  socket.write("220 mx\r\n");
  socket.on("data", (data) => {
    for (const line of String(data).split("\r\n").filter(Boolean)) {
      const end = /^QUIT/i.test(line) ? () => socket.end() : undefined;
      socket.write(`${answer(line)} Blocked by a policy\r\n`, end);
    }
  });
}).listen(0, "127.0.0.1", function () { require("node:fs").writeFileSync("port", `${this.address().port}\n`); });
JS
node server.js & server=$!
trap 'kill $server' EXIT
while [ ! -s port ]; do sleep 0.1; done
mkdir -m 700 queue
printf 'cat >> %s/report\n' "$PWD" > take
# A configuration of the fewest lines: receiver.example is at the server above, and everything else is put into the file.
sed 's/\\t/\t/g' > sendmail.cf <<CF
V10
Djmx.example.com
DnMAILER-DAEMON
O QueueDirectory=$PWD/queue
O PidFile=$PWD/pid
O DontProbeInterfaces=True
O QueueLA=500
O RunAsUser=$(id -un)
O Timeout.ident=0
SCanonify=3
R\$*<\$*>\$*\t\$:\$2
R\$*@\$*\t\$@\$1<@\$2>
SFinal=4
R\$*<@\$*>\t\$@\$1@\$2
SParse=0
R\$*<@receiver.example>\t\$#smtp \$@ [127.0.0.1] \$: \$1@receiver.example
R\$*<@\$*>\t\$#local \$: \$1
Msmtp,\tP=[IPC], F=mDFMuX, E=\r\n, A=TCP \$h $(cat port)
Mlocal,\tP=/bin/sh, F=lsDFMn, U=$(id -un), A=sh $PWD/take \$u
Mprog,\tP=/bin/sh, F=lsD, A=sh -c \$u
CF
printf 'Subject: Hello\n\nHello.\n' | LD_LIBRARY_PATH=$libraries unshare --uts sh -c 'hostname mx.example.com; exec "$@"' sh \
  root/usr/libexec/sendmail/sendmail -odi -C "$PWD/sendmail.cf" -f ada@mx.example.com \
  550@receiver.example 551@receiver.example 552@receiver.example 553@receiver.example 554@receiver.example || true
grep -E '^(Status|Diagnostic-Code):|\.\.\. User unknown' report | tee seen
cat > expected <<'TEXT'
550 5.1.1 553@receiver.example... User unknown
550 5.1.1 551@receiver.example... User unknown
550 5.1.1 550@receiver.example... User unknown
Status: 5.1.1
Diagnostic-Code: smtp; 550 Blocked by a policy
Status: 5.1.6
Diagnostic-Code: smtp; 551 Blocked by a policy
Status: 5.2.2
Diagnostic-Code: smtp; 552 Blocked by a policy
Status: 5.1.3
Diagnostic-Code: smtp; 553 Blocked by a policy
Status: 5.0.0
Diagnostic-Code: smtp; 554 Blocked by a policy
TEXT
diff expected seen
echo 'As expected.'
