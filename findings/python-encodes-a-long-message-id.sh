#!/bin/sh
# Python 3.11.2 (3.11.2-6+deb12u9 of Debian 12, unpacked and not installed), `email.message.EmailMessage`; mailparser 3.9.31 and
# postal-mime 4.0.0 (npm) on Node.
#
# Guess: an In-Reply-To, References or List-Unsubscribe of ASCII is folded at its white space; what has none stays in one line, which may
#        have 998 octets.
# Seen:  a word of 78 characters or more becomes encoded words, which RFC 2047 5 forbids there. Message-IDs of Outlook have 80. Both readers
#        decode References, and neither finds a link to unsubscribe: mailparser has the encoded words as its name. Message-ID and Reply-To
#        stay in one line.
set -eu
cd "$(mktemp -d)"
apt-get download -qq python3.11-minimal=3.11.2-6+deb12u9 libpython3.11-minimal=3.11.2-6+deb12u9 \
  libpython3.11-stdlib=3.11.2-6+deb12u9 2>apt.log
for package in *.deb; do dpkg -x "$package" root; done
npm init -y >/dev/null
npm install --silent --no-audit --no-fund mailparser@3.9.31 postal-mime@4.0.0
cat > write.py <<'PY'
import sys
from email.message import EmailMessage
message = EmailMessage()
long_id = '<AM0PR04MB1234ABCDEF0123456789ABCDEF01234@AM0PR04MB1234.eurprd04.prod.outlook.com>'
message['From'] = 'ada@example.com'
message['Message-ID'] = long_id
message['Reply-To'] = 'reply-' + '0123456789' * 5 + '@replies.mail.news.example'
message['In-Reply-To'] = '<' + 'a' * 64 + '@b.example>'
message['References'] = '<' + 'a' * 65 + '@b.example> ' + long_id
message['List-Unsubscribe'] = '<https://news.example/leave/' + '0123456789' * 6 + '>'
message.set_content('Hello')
sys.stdout.buffer.write(message.as_bytes())
PY
PYTHONHOME=$PWD/root/usr root/usr/bin/python3.11 write.py > message.eml
cat > see.mjs <<'JS'
import { readFileSync } from 'node:fs';
import { simpleParser } from 'mailparser';
import PostalMime from 'postal-mime';
const raw = readFileSync('message.eml');
for (const line of raw.toString().replace(/\n[ \t]+/g, ' ').split('\n').slice(0, 6)) {
  const [name, ...words] = line.split(' ');
  console.log(`${name} ${words.map((word) => (word.startsWith('=?') ? 'encoded' : word.length)).join(' ')}`);
}
const parsed = await simpleParser(raw);
const postal = await PostalMime.parse(raw);
console.log(`mailparser: ${parsed.references.length} references, unsubscribe by ${Object.keys(parsed.headers.get('list').unsubscribe)}`);
const field = postal.headers.find(({ key }) => key === 'list-unsubscribe').value;
console.log(`postal-mime: ${postal.references.split(' ').length} references, unsubscribe by ${field.slice(0, 10)}`);
JS
node --no-warnings see.mjs | tee seen
cat > expected <<'TEXT'
From: 15
Message-ID: 82
Reply-To: 82
In-Reply-To: 76
References: 77 encoded encoded
List-Unsubscribe: encoded encoded
mailparser: 2 references, unsubscribe by name
postal-mime: 2 references, unsubscribe by =?utf-8?q?
TEXT
diff expected seen
echo 'As expected.'
