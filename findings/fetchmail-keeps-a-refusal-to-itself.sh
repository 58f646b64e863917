#!/bin/sh
# fetchmail 6.4.37-1 (Debian 12, amd64), unpacked with its libraries and not installed.
#
# Guess: fetchmail hands mail on by `smtphost`; where that server refuses the recipient with 550, the message stays in the mailbox, or its
#        sender has a bounce by the same server.
# Seen:  the report is tried at port 25 of the machine itself alone, which a container has not, and is lost. The message goes to postmaster
#        at `smtphost`, private mail of a user as it is, is deleted from the mailbox, and fetchmail ends as after a delivery. With 450 it
#        stays; with 550 after DATA it stays as well, and a report about it is tried all the same.
set -eu
cd "$(mktemp -d)"
apt-get download -qq fetchmail=6.4.37-1 libssl3 libcom-err2 libgssapi-krb5-2 libkrb5-3 libk5crypto3 libkrb5support0 libkeyutils1 2>apt.log
for package in *.deb; do dpkg -x "$package" root; done
libraries=$(find "$PWD/root" -name '*.so*' -printf '%h\n' | sort -u | paste -sd:)
cat > servers.js <<'JS'
const { appendFileSync, writeFileSync } = require('node:fs');
const { createServer } = require('node:net');
const [, , stage, code] = process.argv;
const message = 'From: Ada <ada@shop.example>\r\nTo: ann@home.example\r\nSubject: Hello\r\n\r\nHello.\r\n';
const lines = (answer) => (socket) => {
  let rest = '';
  socket.on('error', () => {});
  socket.write(answer(''));
  socket.on('data', (data) => {
    const all = (rest + data).split('\r\n');
    rest = all.pop();
    for (const line of all) socket.write(answer(line));
  });
};
const pop = createServer(lines((line) => {
  const [word] = line.toUpperCase().split(' ');
  if (word === 'DELE') appendFileSync('log', 'deleted from the mailbox\n');
  if (word === 'CAPA') return '-ERR\r\n';
  if (word === 'STAT') return `+OK 1 ${message.length}\r\n`;
  if (word === 'LIST') return `+OK 1 ${message.length}\r\n`;
  if (word === 'UIDL') return '+OK 1 u1\r\n';
  return /^(RETR|TOP)$/.test(word) ? `+OK\r\n${message}.\r\n` : '+OK\r\n';
}));
let isText = false;
const smtp = createServer(lines((line) => {
  if (isText && line !== '.') return '';
  const isEnd = isText;
  isText = line === 'DATA';
  const isAnn = /^RCPT TO:<ann@/i.test(line);
  if (/^RCPT/i.test(line)) appendFileSync('log', `${line.slice(0, line.indexOf('@'))}\n`);
  if (isText) return '354 go on\r\n';
  return (stage === 'rcpt' && isAnn) || (stage === 'data' && isEnd) ? `${code} no\r\n` : line === '' ? '220 mx\r\n' : '250 ok\r\n';
}));
pop.listen(0, '127.0.0.1', () => smtp.listen(0, '127.0.0.1', () =>
  writeFileSync('ports', `${pop.address().port} ${smtp.address().port}\n`)));
JS
mkdir -m 700 home
for stage in 'rcpt 550' 'rcpt 450' 'data 550'; do
  rm -f ports log
  # Two words.
  # shellcheck disable=SC2086
  node servers.js $stage & servers=$!
  while [ ! -s ports ]; do sleep 0.1; done
  read -r pop smtp < ports
  echo "poll 127.0.0.1 protocol pop3 port $pop user ann password x is ann here smtphost 127.0.0.1/$smtp sslproto ''" > home/rc
  chmod 600 home/rc
  code=0
  HOME=$PWD/home USER=root LD_LIBRARY_PATH=$libraries timeout 30 root/usr/bin/fetchmail --fetchmailrc home/rc --idfile home/ids --pidfile home/pid \
    >out 2>&1 || code=$?
  kill $servers
  echo "$stage: $(paste -sd, log), reports to port 25: $(grep -c 'localhost:smtp' out), exit code $code"
done | tee seen
cat > expected <<'TEXT'
rcpt 550: RCPT TO:<ann,RCPT TO:<postmaster,deleted from the mailbox, reports to port 25: 1, exit code 0
rcpt 450: RCPT TO:<ann, reports to port 25: 0, exit code 0
data 550: RCPT TO:<ann, reports to port 25: 1, exit code 0
TEXT
diff expected seen
echo 'As expected.'
