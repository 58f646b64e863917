#!/bin/sh
# libmailtools-perl 2.21-2 (Mail::Address; Debian 12, unpacked and not installed) and address-rfc2822 2.2.4 (npm) on Node.
#
# Guess: the name of `"Acme GmbH, Berlin" <info@acme.example>` is what stands in the quotation marks. Letters change only where all of a
#        name is in capitals, as the documentation has it.
# Seen:  `name` takes all for "surname, given name": "ACME, INC." is "Inc. Acme", and what is behind the comma is lost where the word before it
#        is no single one: "van der Berg, Jan" is "van der Berg", "Acme GmbH, Berlin" is "Acme GmbH". IBM is Ibm. Both libraries agree.
set -eu
cd "$(mktemp -d)"
apt-get download -qq libmailtools-perl=2.21-2 libtimedate-perl 2>apt.log
for package in *.deb; do dpkg -x "$package" root; done
npm init -y >/dev/null
npm install --silent --no-audit --no-fund address-rfc2822@2.2.4
cat > addresses <<'TEXT'
"Acme GmbH, Berlin" <info@acme.example>
"ACME, INC." <info@acme.example>
"van der Berg, Jan" <jan@home.example>
"Doe, Jane, Dr." <jane@home.example>
IBM <info@ibm.example>
"Team, Acme" <team@acme.example>
"Doe, Jane" <jane@home.example>
TEXT
cat > see.pl <<'PL'
use Mail::Address;
while (<>) { chomp; my ($one) = Mail::Address->parse($_); print "$_: ", $one->name // 'none', "\n"; }
PL
cat > see.mjs <<'JS'
import { readFileSync } from 'node:fs';
import reader from 'address-rfc2822';
for (const line of readFileSync('addresses', 'utf8').trim().split('\n')) console.log(`${line}: ${reader.parse(line)[0].name() ?? 'none'}`);
JS
PERL5LIB=root/usr/share/perl5 perl see.pl addresses | tee seen
node --no-warnings see.mjs > other
cat > expected <<'TEXT'
"Acme GmbH, Berlin" <info@acme.example>: Acme GmbH
"ACME, INC." <info@acme.example>: Inc. Acme
"van der Berg, Jan" <jan@home.example>: van der Berg
"Doe, Jane, Dr." <jane@home.example>: Jane
IBM <info@ibm.example>: Ibm
"Team, Acme" <team@acme.example>: Acme Team
"Doe, Jane" <jane@home.example>: Jane Doe
TEXT
diff expected seen
diff expected other
echo 'As expected.'
