#!/bin/sh
# emailjs-mime-builder 2.0.5, postal-mime 4.0.0 and mailparser 3.14.2 (npm) on Node; Python 3.11.2 (3.11.2-6+deb12u9 of Debian 12, unpacked
# and not installed).
#
# Guess: the name "Bericht März (2026).pdf" is encoded by RFC 2231 with its brackets as %28 and %29, and all readers show it.
# Seen:  the brackets stay as they are, since encodeURIComponent leaves them, where RFC 2231 (7) has none in a value: Python takes them for a
#        comment, and the name ends there, without its ".pdf". Its older policy and both readers on Node have the whole name.
set -eu
cd "$(mktemp -d)"
apt-get download -qq python3.11-minimal=3.11.2-6+deb12u9 libpython3.11-minimal=3.11.2-6+deb12u9 \
  libpython3.11-stdlib=3.11.2-6+deb12u9 2>apt.log
for package in *.deb; do dpkg -x "$package" root; done
npm init -y >/dev/null
npm install --silent --no-audit --no-fund emailjs-mime-builder@2.0.5 postal-mime@4.0.0 mailparser@3.14.2
cat > write.cjs <<'JS'
const MimeNode = require('emailjs-mime-builder').default;
const { simpleParser } = require('mailparser');
const { writeFileSync } = require('node:fs');
(async () => {
  const { default: PostalMime } = await import('postal-mime');
  const message = new MimeNode('multipart/mixed').addHeader({ from: 'hello@shop.example', to: 'ann@home.example', subject: 'Report' });
  message.createChild('application/pdf', { filename: 'Bericht März (2026).pdf' }).setContent('x');
  const written = message.build();
  writeFileSync('message', written);
  console.log(written.match(/filename[\s\S]*?(?=\r\n)/)[0]);
  console.log('postal-mime:', (await PostalMime.parse(written)).attachments[0].filename);
  console.log('mailparser: ', (await simpleParser(written)).attachments[0].filename);
})();
JS
cat > read.py <<'PY'
import email, email.policy
for name in ('default', 'compat32'):
    message = email.message_from_binary_file(open('message', 'rb'), policy=getattr(email.policy, name))
    print(f'Python, {name}:', message.get_payload()[0].get_filename())
PY
{
  node write.cjs
  PYTHONHOME=$PWD/root/usr root/usr/bin/python3.11 read.py
} | tee seen
cat > expected <<'TEXT'
filename*0*=utf-8''Bericht%20M%C3%A4rz%20(2026).pdf
postal-mime: Bericht März (2026).pdf
mailparser:  Bericht März (2026).pdf
Python, default: Bericht März
Python, compat32: Bericht März (2026).pdf
TEXT
diff expected seen
echo 'As expected.'
