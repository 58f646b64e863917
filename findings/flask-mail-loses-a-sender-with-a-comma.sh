#!/bin/sh
# Flask-Mail 0.9.1+dfsg1-2 on Flask 2.2.2 and Python 3.11.2 (Debian 12, amd64), unpacked with their libraries and not installed.
#
# Guess: the sender ('Acme, Inc.', 'hello@shop.example'), given as a pair, leaves as `"Acme, Inc." <hello@shop.example>`, as a recipient in
#        the same form does.
# Seen:  a sender is joined to one text first, and read again: what comes before the comma is the address then, and it has no domain, so
#        that the message leaves with an empty From. An at sign in the name does the same; a comma in the name of a recipient does
#        nothing. A name that brings its own quotation marks is kept.
set -eu
cd "$(mktemp -d)"
apt-get download -qq python3-flask-mail=0.9.1+dfsg1-2 python3-flask=2.2.2-3 python3-werkzeug python3-jinja2 python3-markupsafe \
  python3-itsdangerous python3-click python3-blinker python3-colorama python3.11-minimal=3.11.2-6+deb12u9 \
  libpython3.11-minimal=3.11.2-6+deb12u9 libpython3.11-stdlib=3.11.2-6+deb12u9 libexpat1 libffi8 libssl3 zlib1g libuuid1 2>apt.log
for package in *.deb; do dpkg -x "$package" root; done
libraries=$(find "$PWD/root" -name '*.so*' -printf '%h\n' | sort -u | paste -sd:)
cat > see.py <<'PY'
from flask import Flask
from flask_mail import Mail, Message
app = Flask('shop')
mail = Mail(app)
with app.app_context(), mail.record_messages():
    for name in ('Acme', 'Acme, Inc.', 'Acme @ Home', '"Acme, Inc."'):
        message = Message('Hello', sender=(name, 'hello@shop.example'), recipients=[(name, 'ann@home.example')])
        message.body = 'Hello.'
        lines = message.as_bytes().decode().split('\r\n')
        print(name)
        for line in lines:
            if line.startswith(('From:', 'To:')):
                print(f'  {line}'.rstrip())
PY
LD_LIBRARY_PATH=$libraries PYTHONHOME=$PWD/root/usr PYTHONPATH=$PWD/root/usr/lib/python3/dist-packages root/usr/bin/python3.11 see.py | tee seen
cat > expected <<'TEXT'
Acme
  From: =?utf-8?q?Acme?= <hello@shop.example>
  To: =?utf-8?q?Acme?= <ann@home.example>
Acme, Inc.
  From:
  To: =?utf-8?q?Acme=2C_Inc=2E?= <ann@home.example>
Acme @ Home
  From:
  To: =?utf-8?q?Acme_=40_Home?= <ann@home.example>
"Acme, Inc."
  From: =?utf-8?q?Acme=2C_Inc=2E?= <hello@shop.example>
  To: =?utf-8?b?IkFjbWUsIEluYy4i?= <ann@home.example>
TEXT
diff expected seen
echo 'As expected.'
