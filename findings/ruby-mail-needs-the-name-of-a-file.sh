#!/bin/sh
# ruby-mail 2.7.1+dfsg1-2 (Debian 12, unpacked and not installed); mailparser 3.14.2 and postal-mime 4.0.0 (npm) on Node.
#
# Guess: `attachments` has each part that says `Content-Disposition: attachment`, with or without a name: a message that is forwarded as an
#        attachment has none, nor has the invitation of Gmail.
# Seen:  a part without a name is in no list, whatever its disposition says, nor is a file that is all of the message, name and all, as
#        scanners send it. Both readers in JavaScript find each of them.
set -eu
cd "$(mktemp -d)"
command -v ruby >/dev/null || apt-get install -yqq ruby >/dev/null
apt-get download -qq ruby-mail=2.7.1+dfsg1-2 ruby-mini-mime=1.1.1-1 2>apt.log
for package in *.deb; do dpkg -x "$package" root; done
npm init -y >/dev/null
npm install --silent --no-audit --no-fund mailparser@3.14.2 postal-mime@4.0.0
cat > write.mjs <<'JS'
import { writeFileSync } from 'node:fs';
const write = (name, ...lines) =>
  writeFileSync(`${name}.eml`, ['From: ann@home.example', 'Subject: Hello', 'MIME-Version: 1.0', ...lines, ''].join('\r\n'));
const mixed = (name, ...lines) =>
  write(name, 'Content-Type: multipart/mixed; boundary=B', '', '--B', 'Content-Type: text/plain', '', 'Hello', '--B', ...lines, '--B--');
const PDF = ['Content-Transfer-Encoding: base64', '', 'JVBERi0='];
mixed('named', 'Content-Type: application/pdf', 'Content-Disposition: attachment; filename=a.pdf', ...PDF);
mixed('unnamed', 'Content-Type: application/pdf', 'Content-Disposition: attachment', ...PDF);
mixed('forwarded', 'Content-Type: message/rfc822', 'Content-Disposition: attachment', '', 'Subject: Inner', '', 'Inner');
mixed('invitation', 'Content-Type: text/calendar; method=REQUEST', '', 'BEGIN:VCALENDAR');
write('scanner', 'Content-Type: application/pdf', 'Content-Disposition: attachment; filename=a.pdf', ...PDF);
JS
node write.mjs
cat > see.rb <<'RB'
require 'mail'
%w[named unnamed forwarded invitation scanner].each do |name|
  puts "#{name} ruby: #{Mail.read("#{name}.eml").attachments.map(&:mime_type).inspect}"
end
RB
cat > see.mjs <<'JS'
import { readFileSync } from 'node:fs';
import { simpleParser } from 'mailparser';
import PostalMime from 'postal-mime';
for (const name of ['named', 'unnamed', 'forwarded', 'invitation', 'scanner']) {
  const raw = readFileSync(`${name}.eml`);
  const one = (await simpleParser(raw)).attachments.map(({ contentType }) => contentType);
  const other = (await PostalMime.parse(raw)).attachments.map(({ mimeType }) => mimeType);
  console.log(`${name} mailparser: ${one.join(' ')}, postal-mime: ${other.join(' ')}`);
}
JS
{
  ruby -I root/usr/lib/ruby/vendor_ruby -I root/usr/share/rubygems-integration/all/gems/mini_mime-1.1.1/lib see.rb
  node --no-warnings see.mjs
} | tee seen
cat > expected <<'TEXT'
named ruby: ["application/pdf"]
unnamed ruby: []
forwarded ruby: []
invitation ruby: []
scanner ruby: []
named mailparser: application/pdf, postal-mime: application/pdf
unnamed mailparser: application/pdf, postal-mime: application/pdf
forwarded mailparser: message/rfc822, postal-mime: message/rfc822
invitation mailparser: text/calendar, postal-mime: text/calendar
scanner mailparser: application/pdf, postal-mime: application/pdf
TEXT
diff expected seen
echo 'As expected.'
