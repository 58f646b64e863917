#!/bin/sh
# Python 3.11.2 (3.11.2-6+deb12u9 of Debian 12, unpacked and not installed), `email.policy.SMTPUTF8`.
#
# Guess: mail with an internationalised sender (RFC 6532) is read as its Subject is: `From.addresses` has jörg@müller.example, and a message
#        with that address in To goes there.
# Seen:  `str()` of the field has the address, and `addresses` has halves of characters in its place, which neither UTF-8 nor a database
#        takes. A message to that address object names encoded words of the charset `unknown-8bit`, another mailbox at another domain, also by
#        the policy SMTPUTF8. `email.utils.parseaddr` of the same field reads it right.
set -eu
cd "$(mktemp -d)"
apt-get download -qq python3.11-minimal=3.11.2-6+deb12u9 libpython3.11-minimal=3.11.2-6+deb12u9 \
  libpython3.11-stdlib=3.11.2-6+deb12u9 2>apt.log
for package in *.deb; do dpkg -x "$package" root; done
cat > see.py <<'PY'
import sys
from email import message_from_bytes, policy, utils
from email.message import EmailMessage
sys.stdout.reconfigure(encoding='utf-8')
raw = 'From: Jörg <jörg@müller.example>\r\nSubject: Grüße\r\n\r\nHello\r\n'.encode()
message = message_from_bytes(raw, policy=policy.SMTPUTF8)
[author] = message['From'].addresses
print('text:', message['From'], message['Subject'])
print('parseaddr:', utils.parseaddr(message['From'])[1])
print('address:', ascii(author.addr_spec))
answer = EmailMessage(policy=policy.SMTPUTF8)
answer['To'] = author
print(answer.as_bytes().decode().strip().replace('\r\n ', ' '))
PY
PYTHONHOME=$PWD/root/usr root/usr/bin/python3.11 see.py | tee seen
cat > expected <<'TEXT'
text: Jörg <jörg@müller.example> Grüße
parseaddr: jörg@müller.example
address: 'j\udcc3\udcb6rg@m\udcc3\udcbcller.example'
To: =?unknown-8bit?q?J=C3=B6rg?= <=?unknown-8bit?q?j=C3=B6rg?=@=?unknown-8bit?q?m=C3=BCller?=.example>
TEXT
diff expected seen
echo 'As expected.'
