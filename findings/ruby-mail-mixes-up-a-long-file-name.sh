#!/bin/sh
# mail 2.7.1 (Debian 12, amd64: ruby-mail 2.7.1+dfsg1-2 on Ruby 3.1.2, unpacked with their libraries and not installed), and nodemailer
# 10.6.1 (npm) on Node.
#
# Guess: a file name of 100 Cyrillic letters, which RFC 2231 has in numbered sections, filename*0* to filename*12*, is joined by their
#        numbers.
# Seen:  the sections are sorted as words: *10* comes before *2*. A name of more than ten sections has its end, with the type of the file,
#        in the middle. Up to ten sections the name is right.
set -eu
cd "$(mktemp -d)"
apt-get download -qq ruby-mail=2.7.1+dfsg1-2 ruby3.1=3.1.2-7+deb12u1 libruby3.1=3.1.2-7+deb12u1 ruby-mini-mime rubygems-integration \
  libgmp10 libyaml-0-2 libssl3 zlib1g libcrypt1 2>apt.log
for package in *.deb; do dpkg -x "$package" root; done
libraries=$(find "$PWD/root" -name '*.so*' -printf '%h\n' | sort -u | paste -sd:)
npm init -y >/dev/null
npm install --silent --no-audit --no-fund nodemailer@10.6.1
cat > write.mjs <<'JS'
import nodemailer from 'nodemailer';
const transport = nodemailer.createTransport({ streamTransport: true, buffer: true });
const { message } = await transport.sendMail({
  from: 'hello@shop.example',
  to: 'ann@home.example',
  attachments: [{ filename: `${'абвгд'.repeat(Number(process.argv[2]))}.pdf`, content: 'x' }],
});
process.stdout.write(message);
JS
cat > see.rb <<'RUBY'
require 'mail'
message = Mail.read('message.eml')
part = message.multipart? ? message.attachments.first : message
puts "  #{part.filename.force_encoding('UTF-8')}"
RUBY
for times in 10 20; do
  node write.mjs "$times" > message.eml
  echo "$(grep -c 'filename\*[0-9]*\*\?=' message.eml) sections:"
  LC_ALL=C.UTF-8 LD_LIBRARY_PATH=$libraries RUBYLIB=$(printf %s: root/usr/lib/ruby/vendor_ruby root/usr/lib/ruby/3.1.0 \
    root/usr/lib/x86_64-linux-gnu/ruby/3.1.0 root/usr/lib/ruby/gems/3.1.0/gems/net-*/lib \
    root/usr/share/rubygems-integration/all/gems/*/lib) root/usr/bin/ruby3.1 --disable-gems see.rb
done | tee seen
cat > expected <<'TEXT'
7 sections:
  абвгдабвгдабвгдабвгдабвгдабвгдабвгдабвгдабвгдабвгд.pdf
13 sections:
  абвгдабвгдабвгддабвгдабвгдабвгдабвгд.pdfабвгдабвгдабвгдабвгдабвгдабвгдабвгдабвгдабвгдабвгдабвгдабвгдабвг
TEXT
diff expected seen
echo 'As expected.'
