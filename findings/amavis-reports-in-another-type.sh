#!/bin/sh
# amavisd-new 1:2.13.0-3+deb12u1 and python3-flufl.bounce 4.0-3, which Mailman 3 reads bounces with (Debian 12), unpacked with their
# libraries and not installed. Needs root.
#
# Guess: a bounce about a refused file names the recipient in a message/delivery-status part (RFC 3464), whatever the file is called:
#        message/global-delivery-status (RFC 6533) is for addresses beyond ASCII.
# Seen:  one accent in the name of the file makes the report a global one, about an address in ASCII: flufl.bounce finds no recipient in it,
#        and Mailman counts no bounce.
set -eu
cd "$(mktemp -d)"
chmod 755 .
perl='libarchive-zip-perl libberkeleydb-perl libconvert-tnef-perl libconvert-uulib-perl libio-stringy-perl libmail-dkim-perl libmailtools-perl
  libmime-tools-perl libnet-libidn-perl libnet-server-perl libunix-syslog-perl libnet-snmp-perl libnet-dns-perl libtimedate-perl
  libcrypt-openssl-rsa-perl libcrypt-openssl-bignum-perl libcrypt-openssl-random-perl libmail-authenticationresults-perl libjson-perl
  libio-multiplex-perl libdigest-hmac-perl libnet-ssleay-perl libio-socket-inet6-perl libsocket6-perl libconvert-binhex-perl'
apt-get download -qq amavisd-new=1:2.13.0-3+deb12u1 $perl python3-flufl.bounce=4.0-3 python3-zope.interface python3-public 2>apt.log
for package in *.deb; do dpkg -x "$package" root; done
mkdir state out
cat > sink.mjs <<'JS'
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
let number = 0;
const server = createServer((socket) => {
  let text = null;
  let rest = '';
  socket.setEncoding('latin1').write('220 sink\r\n');
  socket.on('error', () => {}).on('data', (data) => {
    const lines = (rest + data).split('\r\n');
    rest = lines.pop();
    for (const line of lines) {
      if (text !== null && line !== '.') text.push(line);
      else if (text !== null) {
        writeFileSync(`out/${++number}.eml`, text.join('\n'), 'latin1');
        text = null;
        socket.write('250 ok\r\n');
      } else if (/^DATA/i.test(line)) {
        text = [];
        socket.write('354 go\r\n');
      } else socket.write(/^EHLO/i.test(line) ? '250-sink\r\n250-SMTPUTF8\r\n250 8BITMIME\r\n' : '250 ok\r\n');
    }
  });
});
server.listen(0, '127.0.0.1', () => writeFileSync('port', String(server.address().port)));
JS
node sink.mjs &
sink=$!
trap 'kill $sink' EXIT
while [ ! -s port ]; do sleep 0.2; done
cat > amavisd.conf <<CONF
use strict;
\$max_servers = 1; \$daemon_user = 'nobody'; \$daemon_group = 'nogroup';
\$MYHOME = '$PWD/state'; \$TEMPBASE = \$MYHOME; \$db_home = \$MYHOME; \$helpers_home = \$MYHOME; \$lock_file = "\$MYHOME/lock";
\$pid_file = "\$MYHOME/pid"; \$QUARANTINEDIR = undef; \$enable_db = 0; \$enable_zmq = 0; \$do_syslog = 0; \$LOGFILE = "\$MYHOME/log";
\$mydomain = 'home.example'; \$myhostname = 'mx.home.example'; @local_domains_maps = (1);
@bypass_virus_checks_maps = (1); @bypass_spam_checks_maps = (1); @decoders = (); @av_scanners = ();
\$enable_dkim_verification = 0; \$inet_socket_port = 10924; \$inet_socket_bind = '127.0.0.1';
\$forward_method = 'smtp:[127.0.0.1]:$(cat port)'; \$notify_method = \$forward_method;
\$final_banned_destiny = D_BOUNCE; \$banned_filename_re = new_RE(qr'\.pdf\$'i); \$banned_files_quarantine_method = undef;
1;
CONF
chmod 644 amavisd.conf
chown nobody state
multiarch=$PWD/root/usr/lib/x86_64-linux-gnu/perl5/5.36
perl -T -I"$PWD/root/usr/share/perl5" -I"$multiarch" root/usr/sbin/amavisd -c "$PWD/amavisd.conf" foreground >amavisd.log 2>&1 &
amavisd=$!
trap 'kill $amavisd $sink' EXIT
cat > send.py <<'PY'
import smtplib, sys, time
from email.message import EmailMessage
message = EmailMessage()
message['From'], message['To'], message['Subject'] = 'hello@shop.example', 'ann@home.example', 'Report'
message['Date'], message['Message-ID'] = 'Mon, 30 Nov 2026 08:00:00 +0000', '<1@shop.example>'
message.set_content('Hello.')
message.add_attachment(b'%PDF-1.4', maintype='application', subtype='pdf', filename=sys.argv[1])
for attempt in range(300):
    try:
        client = smtplib.SMTP('127.0.0.1', 10924, local_hostname='shop.example')
        break
    except OSError:
        time.sleep(0.2)
client.sendmail('b+1@bounces.shop.example', ['ann@home.example'], message.as_bytes())
PY
cat > see.py <<'PY'
import email, sys
from flufl.bounce import all_failures
message = email.message_from_binary_file(open(sys.argv[1], 'rb'))
print(f"  {message.get_param('report-type')}: recipients found: {[one.decode() for one in all_failures(message)[1]]}")
PY
number=0
for name in 'report.pdf' 'März.pdf'; do
  number=$((number + 1))
  echo "$name"
  /usr/bin/python3 send.py "$name"
  while [ ! -s out/$number.eml ]; do sleep 0.2; done
  sed -n '/delivery-status;/,/^--/p' out/$number.eml | sed -n '/^Final-Recipient/,/^Last/p' | grep -v '^Last' |
    sed -E 's/id=[0-9-]+/id=1/; s/^/  /'
  PYTHONPATH=root/usr/lib/python3/dist-packages /usr/bin/python3 see.py out/$number.eml
done | tee seen
cat > expected <<'TEXT'
report.pdf
  Final-Recipient: rfc822;ann@home.example
  Action: failed
  Status: 5.7.0
  Diagnostic-Code: smtp; 554-5.7.0 Bounce, id=1 - BANNED:
   554 5.7.0 application/pdf,report.pdf
  delivery-status: recipients found: ['ann@home.example']
März.pdf
  Final-Recipient: rfc822;ann@home.example
  Action: failed
  Status: 5.7.0
  Diagnostic-Code: smtp; 554-5.7.0 Bounce, id=1 - BANNED:
   554 5.7.0 application/pdf,März.pdf,=?utf-8?Q?M=C3=A4rz.pdf?=
  global-delivery-status: recipients found: []
TEXT
diff expected seen
echo 'As expected.'
