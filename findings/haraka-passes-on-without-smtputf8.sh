#!/bin/sh
# Haraka 3.3.4 with its plugin queue/smtp_forward on Node.
#
# Guess: a message to jürgen@home.example that came with SMTPUTF8 goes on with SMTPUTF8 (RFC 6531 3.4), where the next server offers it.
# Seen:  the address goes on in its letters, and neither SMTPUTF8 nor BODY=8BITMIME is said, which came with the message as well. A server
#        that holds to RFC 6531 refuses the address for that; one that passes the message on does not know that the next server has to
#        have the extension.
set -eu
cd "$(mktemp -d)"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund --ignore-scripts Haraka@3.3.4
cat > server.js <<'JS'
const { writeFileSync } = require("node:fs");
require("node:net").createServer((socket) => {
  let isData = false;
  socket.on("error", () => socket.destroy());
  socket.write("220 mx\r\n");
  socket.on("data", (data) => {
    for (const line of String(data).split("\r\n").slice(0, -1)) {
      if (isData) line === "." && ((isData = false), socket.write("250 ok\r\n"));
      else if (/^EHLO/i.test(line)) socket.write("250-mx\r\n250-8BITMIME\r\n250 SMTPUTF8\r\n");
      else if (/^DATA/i.test(line)) (isData = true), socket.write("354 go on\r\n");
      else if (/^QUIT/i.test(line)) socket.end("221 bye\r\n");
      else {
        if (/^(MAIL|RCPT)/i.test(line)) console.log(`  ${line}`);
        socket.write("250 ok\r\n");
      }
    }
  });
}).listen(0, "127.0.0.1", function () { writeFileSync("port", `${this.address().port}\n`); });
JS
node server.js > next & server=$!
trap 'kill $server' EXIT
while [ ! -s port ]; do sleep 0.1; done
mkdir -p relay/config relay/plugins
cp node_modules/Haraka/config/connection.ini relay/config
printf 'any\nqueue/smtp_forward\n' > relay/config/plugins
echo 'exports.hook_rcpt = (next) => next(OK);' > relay/plugins/any.js
printf 'host=127.0.0.1\nport=%s\n' "$(cat port)" > relay/config/smtp_forward.ini
cat > free.js <<'JS'
const server = require("node:net").createServer().listen(0, "127.0.0.1", () => {
  console.log(server.address().port);
  server.close();
});
JS
relay=$(node free.js)
printf 'listen=127.0.0.1:%s\n' "$relay" > relay/config/smtp.ini
echo relay.example > relay/config/me
(cd relay && exec node ../node_modules/Haraka/bin/haraka -c .) > relay.log 2>&1 & haraka=$!
trap 'kill $server $haraka' EXIT
cat > send.js <<'JS'
const commands = ["EHLO app", "MAIL FROM:<hello@shop.example> BODY=8BITMIME SMTPUTF8", "RCPT TO:<jürgen@home.example>", "DATA",
  "From: hello@shop.example\r\nSubject: Grüße\r\n\r\nHello.\r\n.", "QUIT"];
const begin = () => {
  const socket = require("node:net").connect(Number(process.argv[2]), "127.0.0.1");
  socket.on("error", () => setTimeout(begin, 200));
  socket.on("data", (data) => {
    if (!/^\d{3} .*\r\n$/m.test(String(data))) return;
    const command = commands.shift();
    if (/^(MAIL|RCPT)/.test(command)) console.log(`  ${command}`);
    if (command) socket.write(`${command}\r\n`);
  });
};
begin();
JS
{ echo 'to Haraka:'; node send.js "$relay"; echo 'from Haraka:'; cat next; } | tee seen
cat > expected <<'TEXT'
to Haraka:
  MAIL FROM:<hello@shop.example> BODY=8BITMIME SMTPUTF8
  RCPT TO:<jürgen@home.example>
from Haraka:
  MAIL FROM:<hello@shop.example>
  RCPT TO:<jürgen@home.example>
TEXT
diff expected seen
echo 'As expected.'
