#!/bin/sh
# PEAR Mail_mime 1.10.11 (Debian 12: php-mail-mime 1.10.11-1 with php-pear) on PHP 8.2, unpacked with their libraries and not installed;
# Python 3 and postal-mime 4.0.0 (npm) on Node read what it writes.
#
# Guess: with all three charsets set to utf-8, the file "Bericht März.pdf" has a name in utf-8, as the subject has.
# Seen:  the name says that it is US-ASCII and holds the octets of UTF-8, since the charset of a file's name is another argument, the twelfth.
#        postal-mime shows "Bericht MÃ¤rz.pdf", and Python guesses the letter.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund postal-mime@4.0.0
apt-get download -qq php-mail-mime=1.10.11-1 php-pear php8.2-cli php8.2-common libargon2-1 libedit2 libbsd0 libmd0 libtinfo6 libxml2 libicu72 \
  libpcre2-8-0 libsodium23 libssl3 zlib1g libapparmor1 libstdc++6 libgcc-s1 liblzma5 libmagic1 2>apt.log
for package in *.deb; do dpkg -x "$package" root; done
libraries=$(find "$PWD/root" -name '*.so*' -printf '%h\n' | sort -u | paste -sd:)
cat > see.php <<'PHP'
<?php
error_reporting(0);
set_include_path('root/usr/share/php');
require 'Mail/mime.php';
$message = new Mail_mime(['eol' => "\r\n", 'text_charset' => 'utf-8', 'html_charset' => 'utf-8', 'head_charset' => 'utf-8']);
$message->setTXTBody('Hello.');
$message->addAttachment('PDF', 'application/pdf', 'Bericht März.pdf', false);
$body = $message->get();
echo $message->txtHeaders(['From' => 'hello@shop.example', 'Subject' => 'Bericht März']), "\r\n", $body;
PHP
cat > see.py <<'PY'
import email
from email.policy import default
message = email.message_from_binary_file(open('sent', 'rb'), policy=default)
print('Python:', ascii([part.get_filename() for part in message.walk() if part.get_filename()]))
PY
cat > see.mjs <<'JS'
import { readFileSync } from 'node:fs';
import PostalMime from 'postal-mime';
const { attachments, subject } = await PostalMime.parse(readFileSync('sent'));
console.log(`postal-mime: ${subject}, ${attachments.map(({ filename }) => JSON.stringify(filename))}`);
JS
LD_LIBRARY_PATH=$libraries root/usr/bin/php8.2 -n see.php > sent
{
  grep -E "^(Subject:| filename)" sent | tr -d '\r'
  python3 see.py
  node --no-warnings see.mjs
} | tee seen
cat > expected <<'TEXT'
Subject: =?utf-8?Q?Bericht_M=C3=A4rz?=
 filename*=US-ASCII''Bericht%20M%C3%A4rz.pdf;
Python: ['Bericht M\xe4rz.pdf']
postal-mime: Bericht März, "Bericht MÃ¤rz.pdf"
TEXT
diff expected seen
echo 'As expected.'
