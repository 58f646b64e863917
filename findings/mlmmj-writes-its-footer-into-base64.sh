#!/bin/sh
# mlmmj 1.3.0-4 (Debian 12, unpacked and not installed); postal-mime 4.0.0 (npm) on Node reads what a member gets.
#
# Guess: the footer of a list stands below each message, or is left out where it does not fit: in a text in base64, and in html with a text.
# Seen:  its lines are written at the end of the message as it is. Behind base64 they are read as more base64: the text ends in letters by
#        chance, and the address to leave is not there. Behind the last boundary no reader shows them.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund postal-mime@4.0.0
apt-get download -qq mlmmj=1.3.0-4 2>apt.log
for package in *.deb; do dpkg -x "$package" root; done
cat > sink.mjs <<'JS'
import { appendFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
// One answer a line, and each message into a file.
let number = 0;
const server = createServer((socket) => {
  let data = false;
  let rest = '';
  socket.setEncoding('latin1').write('220 sink\r\n');
  socket.on('error', () => {}).on('data', (text) => {
    const lines = (rest + text).split('\r\n');
    rest = lines.pop();
    for (const line of lines) {
      if (data && line !== '.') appendFileSync('part', `${line}\r\n`, 'latin1');
      if (data && line !== '.') continue;
      if (data) writeFileSync(`done.${++number}`, '');
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
bin=$PWD/root/usr/bin
list=$PWD/lists/talk
mkdir lists
printf 'lists.example\nowner@lists.example\n%s\n' "$PWD/root/usr/share/mlmmj/text.skel/en" |
  "$bin/mlmmj-make-ml" -s "$PWD/lists" -L talk >make.log 2>&1
cp -n root/usr/share/mlmmj/text.skel/en/* "$list/text/" 2>/dev/null || true
cp port "$list/control/smtpport"
echo 127.0.0.1 > "$list/control/relayhost"
touch "$list/control/notocc"
printf '%s\n' '-- ' 'Leave: talk+unsubscribe@lists.example' > "$list/control/footer"
"$bin/mlmmj-sub" -L "$list" -a ann@home.example -f -q 2>/dev/null
cat > see.mjs <<'JS'
import { readFileSync } from 'node:fs';
import PostalMime from 'postal-mime';
const { text } = await PostalMime.parse(readFileSync('part'));
console.log(`as read: ${JSON.stringify(text.trim().replace(/[^\x20-\x7e\n]/g, '?'))}`);
JS
number=0
post() {
  number=$((number + 1))
  rm -f part
  {
    printf 'Return-Path: <ben@home.example>\nFrom: ben@home.example\nTo: talk@lists.example\nSubject: Hello\nMIME-Version: 1.0\n'
    printf 'Message-ID: <%s@home.example>\n%b' $number "$1"
  } > post.eml
  "$bin/mlmmj-receive" -F -L "$list" < post.eml >receive.log 2>&1
  for attempt in $(seq 50); do [ -e done.$number ] || sleep 0.2; done
  echo "message $number, its end: $(tail -n 4 part | tr -d '\r' | tr '\n' '|')"
  node --no-warnings see.mjs
}
{
  post '\nHello list.\n'
  post 'Content-Transfer-Encoding: base64\n\nSGVsbG8gbGlzdC4K\n'
  html='Content-Type: text/html\n\n<p>Hello list.</p>'
  post "Content-Type: multipart/alternative; boundary=b\n\n--b\n\nHello list.\n--b\n$html\n--b--\n"
} | tee seen
cat > expected <<'TEXT'
message 1, its end: Hello list.|-- |Leave: talk+unsubscribe@lists.example||
as read: "Hello list.\n-- \nLeave: talk+unsubscribe@lists.example"
message 2, its end: SGVsbG8gbGlzdC4K|-- |Leave: talk+unsubscribe@lists.example||
as read: "Hello list.\n-?z?????r??zX???jje"
message 3, its end: --b--|-- |Leave: talk+unsubscribe@lists.example||
as read: "Hello list."
TEXT
diff expected seen
echo 'As expected.'
