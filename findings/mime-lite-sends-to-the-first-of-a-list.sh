#!/bin/sh
# MIME::Lite 3.033 (Debian 12: libmime-lite-perl 3.033-1, unpacked with its libraries and not installed) on Perl.
#
# Guess: `To => ['ann@…', 'ben@…']` and the same for Cc send to all of them, as the text 'ann@…, ben@…' does.
# Seen:  each element is a field: the message has two To fields, where RFC 5322 (3.6) allows one, and goes by SMTP to the first of To
#        alone, and to all of Cc. The second one stands in the message, gets nothing, and `send` tells no error.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
apt-get download -qq libmime-lite-perl=3.033-1 libemail-date-format-perl libmime-types-perl libmailtools-perl libtimedate-perl 2>apt.log
for package in *.deb; do dpkg -x "$package" root; done
cat > sink.mjs <<'JS'
import { appendFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
// One answer a line, and the recipients and the message into a file.
const server = createServer((socket) => {
  let data = false;
  let rest = '';
  socket.setEncoding('latin1').write('220 sink\r\n');
  socket.on('error', () => {}).on('data', (text) => {
    const lines = (rest + text).split('\r\n');
    rest = lines.pop();
    for (const line of lines) {
      if (data || /^RCPT/i.test(line)) appendFileSync('sent', `${line}\n`, 'latin1');
      if (data && line !== '.') continue;
      data = /^DATA/i.test(line);
      socket.write(data ? '354 go\r\n' : '250 ok\r\n');
    }
  });
});
server.listen(0, '127.0.0.1', () => writeFileSync('port', String(server.address().port)));
JS
node sink.mjs &
sink=$!
trap 'kill $sink; rm -rf "$folder"' EXIT
while [ ! -s port ]; do sleep 0.2; done
cat > see.pl <<'PL'
use MIME::Lite;
for my $to (['ann@home.example', 'ben@home.example'], 'ann@home.example, ben@home.example') {
  my $cc = ref $to ? ['eve@home.example', 'bob@home.example'] : 'eve@home.example, bob@home.example';
  my $message = MIME::Lite->new(From => 'hello@shop.example', To => $to, Cc => $cc,
    Subject => 'Hello', Data => "Hello.\n");
  print ref $to ? 'list' : 'text', ': ', $message->send('smtp', '127.0.0.1', Port => $ARGV[0], Timeout => 10) ? 'sent' : 'not sent', "\n";
}
PL
{
  PERL5LIB=$PWD/root/usr/share/perl5 perl see.pl "$(cat port)"
  grep -E '^(RCPT|To:|Cc:)' sent
} | tee seen
cat > expected <<'TEXT'
list: sent
text: sent
RCPT TO:<ann@home.example>
RCPT TO:<eve@home.example>
RCPT TO:<bob@home.example>
To: ann@home.example
To: ben@home.example
Cc: eve@home.example
Cc: bob@home.example
RCPT TO:<ann@home.example>
RCPT TO:<ben@home.example>
RCPT TO:<eve@home.example>
RCPT TO:<bob@home.example>
To: ann@home.example, ben@home.example
Cc: eve@home.example, bob@home.example
TEXT
diff expected seen
echo 'As expected.'
