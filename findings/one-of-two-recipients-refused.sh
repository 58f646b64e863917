#!/bin/sh
# nodemailer 10.6.1 and emailjs 5.0.3 (npm) on Node; python3-django 3:3.2.25-0+deb12u7 and python3-aiosmtplib 2.0.0-1 (Debian 12), unpacked
# and not installed.
#
# Guess: where a server takes one recipient of a message and refuses the other one, a library sends to the first and raises an error that
#        names the second; or, as Django says `fail_silently=False`, at least raises one.
# Seen:  Django answers 1 and raises nothing: it throws away what smtplib says of the refused one, who appears nowhere. Nodemailer and
#        aiosmtplib raise nothing either, and name that one in their answer. emailjs raises an error and sends to neither. With a
#        server's limit of recipients, `bcc` of one more loses that one at the first three, and everyone at the last.
set -eu
cd "$(mktemp -d)"
apt-get download -qq python3-django=3:3.2.25-0+deb12u7 python3-asgiref python3-sqlparse python3-tz python3-aiosmtplib=2.0.0-1 2>apt.log
for package in *.deb; do dpkg -x "$package" root; done
npm init -y >/dev/null
npm install --silent --no-audit --no-fund nodemailer@10.6.1 emailjs@5.0.3 smtp-server@3.21.6
cat > see.py <<'PY'
import asyncio, sys
port = int(sys.argv[2])
if sys.argv[1] == 'django':
    from django.conf import settings
    settings.configure(EMAIL_HOST='127.0.0.1', EMAIL_PORT=port)
    from django.core.mail import send_mail
    print('answer', send_mail('Hi', 'x', 'a@b.example', ['taken@c.example', 'refused@c.example'], fail_silently=False))
else:
    import aiosmtplib
    text = 'From: a@b.example\nSubject: Hi\n\nx\n'
    answer = asyncio.run(aiosmtplib.send(text, 'a@b.example', ['taken@c.example', 'refused@c.example'],
        hostname='127.0.0.1', port=port, start_tls=False))
    print('answer', sorted(answer[0]))
PY
cat > see.mjs <<'JS'
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { promisify } from 'node:util';
import { SMTPClient } from 'emailjs';
import { createTransport } from 'nodemailer';
import { SMTPServer } from 'smtp-server';
let sent = [];
const server = new SMTPServer({
  disabledCommands: ['AUTH', 'STARTTLS'],
  onRcptTo: ({ address }, _, done) =>
    done(address.startsWith('refused') ? Object.assign(new Error('Too many recipients'), { responseCode: 452 }) : null),
  onData: (stream, { envelope }, done) => {
    sent = envelope.rcptTo.map(({ address }) => address);
    stream.resume().on('end', done);
  },
});
server.listen(0, '127.0.0.1');
await once(server.server, 'listening');
const { port } = server.server.address();
const to = 'taken@c.example, refused@c.example';
const mail = { from: 'a@b.example', to, subject: 'Hi', text: 'x' };
const python = async (name) => (await promisify(execFile)('python3', ['see.py', name, port])).stdout.trim();
const ways = {
  django: () => python('django'),
  aiosmtplib: () => python('aiosmtplib'),
  nodemailer: async () => `answer ${(await createTransport({ host: '127.0.0.1', port }).sendMail(mail)).rejected}`,
  emailjs: async () => `answer ${await new SMTPClient({ host: '127.0.0.1', port }).sendAsync(mail)}`,
};
for (const [name, way] of Object.entries(ways)) {
  sent = [];
  const said = await way().catch(() => 'error');
  console.log(`${name}: ${said}; sent to ${sent.join() || 'none'}`);
}
process.exit(0);
JS
PYTHONPATH=root/usr/lib/python3/dist-packages node see.mjs | tee seen
cat > expected <<'TEXT'
django: answer 1; sent to taken@c.example
aiosmtplib: answer ['refused@c.example']; sent to taken@c.example
nodemailer: answer refused@c.example; sent to taken@c.example
emailjs: error; sent to none
TEXT
diff expected seen
echo 'As expected.'
