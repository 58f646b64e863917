#!/bin/sh
# python3-django 3:3.2.25-0+deb12u7 (Debian 12), unpacked and not installed.
#
# Guess: an address with a letter beyond ASCII before its @ is sent with SMTPUTF8 (RFC 6531) where the server announces it, and refused
#        where not.
# Seen:  Django never asks for SMTPUTF8. It writes the local part as an encoded word, which RFC 2047 5 (3) forbids in an address, into
#        To and into RCPT: the mail goes to another mailbox, named `=?utf-8?q?j=C3=BCrgen?=`, and its domain decides what becomes of it.
set -eu
cd "$(mktemp -d)"
apt-get download -qq python3-django=3:3.2.25-0+deb12u7 python3-asgiref python3-sqlparse python3-tz 2>apt.log
for package in *.deb; do dpkg -x "$package" root; done
npm init -y >/dev/null
npm install --silent --no-audit --no-fund smtp-server@3.21.6
cat > send.py <<'PY'
import sys
from django.conf import settings
settings.configure(EMAIL_HOST='127.0.0.1', EMAIL_PORT=int(sys.argv[1]))
from django.core.mail import send_mail
print('Django answers', send_mail('Hi', 'x', 'a@b.example', ['jürgen@c.example']))
PY
cat > see.mjs <<'JS'
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { promisify } from 'node:util';
import { SMTPServer } from 'smtp-server';
const server = new SMTPServer({
  disabledCommands: ['AUTH', 'STARTTLS'],
  hideSMTPUTF8: false,
  onRcptTo: ({ address }, { envelope }, done) => {
    console.log(`RCPT TO:<${address}>, SMTPUTF8 ${envelope.smtpUtf8 ? 'asked for' : 'not asked for'}`);
    done();
  },
  onData: async (stream, _, done) => {
    let text = '';
    for await (const piece of stream) text += piece;
    console.log(text.match(/^To: .*$/m)[0].trim());
    done();
  },
});
server.listen(0, '127.0.0.1');
await once(server.server, 'listening');
console.log((await promisify(execFile)('python3', ['send.py', server.server.address().port])).stdout.trim());
process.exit(0);
JS
PYTHONPATH=root/usr/lib/python3/dist-packages node see.mjs | tee seen
cat > expected <<'TEXT'
RCPT TO:<=?utf-8?q?j=C3=BCrgen?=@c.example>, SMTPUTF8 not asked for
To: =?utf-8?q?j=C3=BCrgen?=@c.example
Django answers 1
TEXT
diff expected seen
echo 'As expected.'
