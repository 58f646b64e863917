#!/bin/sh
# The module email of Python 3.11 to 3.13 and the policy `email.policy.default`; mailparser 3.9.31 (npm) on Node for comparison.
#
# Guess: a file of the type message/rfc822 that is attached as its octets, with the type that `mimetypes` names, comes back as that message.
# Seen:  `add_attachment` writes it in base64, which RFC 2046 5.2.1 does not allow for this type. Python reads such a part as a message
#        without any field, whose text is the base64, and so does the same for what PHPMailer and Go's gomail write. mailparser reads it.
#        Where the message is attached as an object it is right.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
command -v python3 >/dev/null || apt-get install -yqq python3 >/dev/null
npm init -y >/dev/null
npm install --silent --no-audit --no-fund mailparser@3.9.31
cat > see.py <<'PY'
import email
import mimetypes
from email.message import EmailMessage
from email.policy import default
OCTETS = b'From: ben@home.example\r\nSubject: Complaint\r\n\r\nI want my money back.\r\n'
for name in ['octets', 'object']:
    message = EmailMessage()
    message['From'] = 'ann@shop.example'
    message.set_content('See the file.')
    if name == 'octets':
        maintype, subtype = mimetypes.guess_type('complaint.eml')[0].split('/')
        message.add_attachment(OCTETS, maintype=maintype, subtype=subtype, filename='complaint.eml')
    else:
        message.add_attachment(email.message_from_bytes(OCTETS, policy=default), filename='complaint.eml')
    with open(name, 'wb') as file:
        file.write(message.as_bytes())
    [part] = email.message_from_bytes(message.as_bytes(), policy=default).iter_attachments()
    inner = part.get_content()
    print(f'{name}: {part.get_content_type()}, {part["content-transfer-encoding"]}')
    print(f'  Python: subject {inner["subject"]!r}, text {inner.get_payload()[:24]!r}, defects {part.defects}')
PY
cat > see.mjs <<'JS'
import { readFileSync } from 'node:fs';
import { simpleParser } from 'mailparser';
const { attachments: [file] } = await simpleParser(readFileSync('octets'));
console.log(`  mailparser: ${file.filename}, ${JSON.stringify(String(file.content).split('\r\n')[1])}`);
JS
{ python3 see.py; echo 'octets:'; node --no-warnings see.mjs; } | tee seen
cat > expected <<'TEXT'
octets: message/rfc822, base64
  Python: subject None, text 'RnJvbTogYmVuQGhvbWUuZXhh', defects []
object: message/rfc822, 8bit
  Python: subject 'Complaint', text 'I want my money back.\n', defects []
octets:
  mailparser: complaint.eml, "Subject: Complaint"
TEXT
diff expected seen
echo 'As expected.'
