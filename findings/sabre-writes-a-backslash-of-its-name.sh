#!/bin/sh
# sabre/vobject 2.1.7 (Debian 12: php-sabre-vobject 2.1.7-6.1) on PHP 8.2, unpacked with their libraries and not installed; ical.js 2.2.1
# (npm) on Node reads what it writes.
#
# Guess: a vCard that is read and written is the same card: "Smith, Ann" as its name, and "Acme, Inc." as its company.
# Seen:  the name of FN has two backslashes then, so that each reader shows one: "Smith\, Ann". N, ORG and NOTE are written as they were, and
#        read as they stand: the company is "Acme\, Inc.", with the backslash.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund ical.js@2.2.1
apt-get download -qq php-sabre-vobject=2.1.7-6.1 php8.2-cli php8.2-common libargon2-1 libedit2 libbsd0 libmd0 libtinfo6 libxml2 libicu72 \
  libpcre2-8-0 libsodium23 libssl3 zlib1g libapparmor1 libstdc++6 libgcc-s1 liblzma5 libmagic1 2>apt.log
for package in *.deb; do dpkg -x "$package" root; done
libraries=$(find "$PWD/root" -name '*.so*' -printf '%h\n' | sort -u | paste -sd:)
cat > see.php <<'PHP'
<?php
error_reporting(0);
set_include_path('root/usr/share/php');
require 'root/usr/share/php/Sabre/VObject/autoload.php';
$text = implode("\r\n", ['BEGIN:VCARD', 'VERSION:3.0', 'N:Smith;Ann;;;', 'FN:Smith\, Ann', 'ORG:Acme\, Inc.', 'END:VCARD', '']);
$card = Sabre\VObject\Reader::read($text);
fwrite(STDERR, "sabre: {$card->FN}; {$card->ORG}\n");
echo $card->serialize();
PHP
cat > see.cjs <<'JS'
const ICAL = require('ical.js').default ?? require('ical.js');
const text = require('node:fs').readFileSync('written.vcf', 'utf8');
console.log(text.split('\r\n').filter((line) => /^(FN|ORG)/.test(line)).join('; '));
const card = new ICAL.Component(ICAL.parse(text));
console.log(`ical.js: ${card.getFirstPropertyValue('fn')}; ${card.getFirstPropertyValue('org')}`);
JS
{
  LD_LIBRARY_PATH=$libraries root/usr/bin/php8.2 -n see.php 2>&1 >written.vcf
  node --no-warnings see.cjs
} | tee seen
cat > expected <<'TEXT'
sabre: Smith\, Ann; Acme\, Inc.
FN:Smith\\, Ann; ORG:Acme\, Inc.
ical.js: Smith\, Ann; Acme, Inc.
TEXT
diff expected seen
echo 'As expected.'
