#!/bin/sh
# smtp-server 3.21.6 and nodemailer 10.6.1 (npm) on Node.
#
# Guess: the envelope of a session has the addresses that MAIL and RCPT had: in ASCII, where the client has sent ASCII and no SMTPUTF8.
# Seen:  `xn--bcher-kva.example` becomes `bücher.example`, which no list of domains in ASCII has. A relay that hands the envelope on by
#        the SMTPConnection of nodemailer writes it that way into MAIL and RCPT, without SMTPUTF8 where the next server has none: RFC 5321
#        forbids that, and the mail was in ASCII.
set -eu
cd "$(mktemp -d)"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund smtp-server@3.21.6 nodemailer@10.6.1
cat > see.mjs <<'JS'
import { once } from 'node:events';
import { createTransport } from 'nodemailer';
import SMTPConnection from 'nodemailer/lib/smtp-connection/index.js';
import { createServer } from 'node:net';
import { SMTPServer } from 'smtp-server';
// The next server, which knows no extension.
const next = createServer((socket) => {
  socket.write('220 next\r\n');
  socket.on('data', (data) => {
    const line = String(data).trim();
    if (/^(MAIL|RCPT)/.test(line)) console.log(`next server: ${line}`);
    socket.write(/^DATA/.test(line) ? '354 go on\r\n' : '250 ok\r\n');
  });
}).listen(0, '127.0.0.1');
await once(next, 'listening');
const relay = new SMTPServer({
  authOptional: true,
  disabledCommands: ['STARTTLS'],
  onData(stream, { envelope }, done) {
    console.log(`session: ${envelope.mailFrom.address} ${envelope.rcptTo[0].address}, smtpUtf8 ${envelope.smtpUtf8}`);
    const connection = new SMTPConnection({ host: '127.0.0.1', port: next.address().port, ignoreTLS: true });
    const sent = { from: envelope.mailFrom.address, to: envelope.rcptTo.map(({ address }) => address) };
    connection.connect(() => connection.send(sent, stream, done));
  },
});
await once(relay.listen(0, '127.0.0.1'), 'listening');
const client = createTransport({ host: '127.0.0.1', port: relay.server.address().port, ignoreTLS: true });
const envelope = { from: 'ada@xn--bcher-kva.example', to: 'ann@xn--bcher-kva.example' };
await client.sendMail({ envelope, raw: 'Subject: Hello\r\n\r\nHello\r\n' });
process.exit();
JS
node --no-warnings see.mjs | tee seen
cat > expected <<'TEXT'
session: ada@bücher.example ann@bücher.example, smtpUtf8 false
next server: MAIL FROM:<ada@bücher.example>
next server: RCPT TO:<ann@bücher.example>
TEXT
diff expected seen
echo 'As expected.'
