#!/bin/sh
# sendEmail 1.56 (1.56-5.1) on Perl, and LuaSocket 3.1.0 (lua-socket 3.1.0-1+b1) on Lua 5.4, both of Debian 12 (amd64), unpacked and not
# installed; postal-mime 4.0.0 (npm) on Node reads what they send.
#
# Guess: a text of a terminal or a script in UTF-8 goes out as it is, with utf-8 or no charset, and 8bit or no encoding.
# Seen:  sendEmail says `iso-8859-1` and 7bit of it, LuaSocket `iso-8859-1` of each part without a type: readers show "KÃ¶ln". The
#        subject of both is raw UTF-8, which readers show right, so that one message has the word in two forms.
set -eu
cd "$(mktemp -d)"
apt-get download -qq sendemail=1.56-5.1 lua-socket=3.1.0-1+b1 lua5.4 2>apt.log
for package in *.deb; do dpkg -x "$package" root; done
npm init -y >/dev/null
npm install --silent --no-audit --no-fund postal-mime@4.0.0
cat > server.mjs <<'JS'
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import PostalMime from 'postal-mime';
createServer((socket) => {
  let [isText, rest, message] = [false, '', ''];
  socket.on('error', () => socket.destroy());
  socket.write('220 mx\r\n');
  socket.setEncoding('latin1').on('data', async (data) => {
    const lines = (rest + data).split('\r\n');
    rest = lines.pop();
    for (const line of lines) {
      if (isText && line !== '.') message += `${line}\r\n`;
      if (isText && line !== '.') continue;
      if (isText) {
        const { subject, text } = await PostalMime.parse(Buffer.from(message, 'latin1'));
        const said = message.match(/^Content-(?:Type: text|Transfer-Encoding)[^\r\n]*(?:\r\n[ \t][^\r\n]+)*/gim).map((field) => field.replace(/^[^:]*: /, "").replace(/\s+/g, " "));
        writeFileSync('read', `${said.join(', ')}\nsubject ${subject}, text ${text.trim()}\n`);
      }
      isText = line === 'DATA';
      if (line === 'QUIT') socket.end('221 bye\r\n');
      else socket.write(isText ? '354 go on\r\n' : '250 ok\r\n');
    }
  });
}).listen(0, '127.0.0.1', function () { writeFileSync('port', String(this.address().port)); });
JS
node server.mjs & server=$!
trap 'kill $server' EXIT
while [ ! -s port ]; do sleep 0.1; done
cat > see.lua <<'LUA'
package.path = 'root/usr/share/lua/5.4/?.lua;' .. package.path
package.cpath = 'root/usr/lib/x86_64-linux-gnu/lua/5.4/?.so;' .. package.cpath
local smtp = require 'socket.smtp'
local message = smtp.message { headers = { from = 'hello@shop.example', to = 'ann@home.example', subject = 'Köln' }, body = { { body = 'Köln\r\n' } } }
assert(smtp.send { from = '<hello@shop.example>', rcpt = '<ann@home.example>', source = message, server = '127.0.0.1', port = tonumber(arg[1]) })
LUA
{
  perl root/usr/bin/sendemail -q -f hello@shop.example -t ann@home.example -u Köln -m Köln -s "127.0.0.1:$(cat port)" -o tls=no
  echo "sendEmail: $(cat read)"
  root/usr/bin/lua5.4 see.lua "$(cat port)"
  echo "LuaSocket: $(cat read)"
} | tee seen
cat > expected <<'TEXT'
sendEmail: text/plain; charset="iso-8859-1", 7bit
subject Köln, text KÃ¶ln
LuaSocket: text/plain; charset="iso-8859-1"
subject Köln, text KÃ¶ln
TEXT
diff expected seen
echo 'As expected.'
