#!/bin/sh
# Alertmanager 0.25.0 (Debian 12, amd64: prometheus-alertmanager 0.25.0-1+b4), unpacked and not installed; postal-mime 4.0.0 (npm) on Node.
#
# Guess: `to: 'Büro <ann@shop.example>, ben@shop.example'` becomes a To field with an encoded word for the name, as the subject becomes one.
# Seen:  the whole value is one encoded word, the addresses and the comma in it: a reader takes the begin of the word for ann's name, and
#        `_ben@shop.example?=` for ben's address, to which an answer to all goes. From is written so as well; of one address alone that
#        reader makes sense. Both recipients get the mail, by the envelope.
set -eu
cd "$(mktemp -d)"
apt-get download -qq prometheus-alertmanager=0.25.0-1+b4 2>apt.log
for package in *.deb; do dpkg -x "$package" root; done
npm init -y >/dev/null
npm install --silent --no-audit --no-fund postal-mime@4.0.0
cat > server.js <<'JS'
const { writeFileSync } = require("node:fs");
require("node:net").createServer((socket) => {
  let text = null;
  socket.on("error", () => socket.destroy());
  socket.write("220 mx\r\n");
  socket.on("data", (data) => {
    for (const line of String(data).split("\r\n").slice(0, -1)) {
      if (text !== null && line !== ".") text += `${line}\r\n`;
      else if (text !== null) writeFileSync("message.new", text), (text = null), socket.write("250 ok\r\n");
      else if (/^DATA/i.test(line)) (text = ""), socket.write("354 go on\r\n");
      else if (/^QUIT/i.test(line)) socket.end("221 bye\r\n");
      else socket.write("250 ok\r\n");
    }
  });
}).listen(0, "127.0.0.1", function () { writeFileSync("port", `${this.address().port}\n`); });
JS
cat > free.js <<'JS'
const server = require("node:net").createServer().listen(0, "127.0.0.1", () => {
  console.log(server.address().port);
  server.close();
});
JS
cat > see.mjs <<'JS'
import { existsSync, readFileSync } from "node:fs";
import PostalMime from "postal-mime";
const base = `http://127.0.0.1:${process.argv[2]}`;
const pause = () => new Promise((done) => setTimeout(done, 200));
const body = JSON.stringify([{ labels: { alertname: "DiskFull" } }]);
const post = () => fetch(`${base}/api/v2/alerts`, { method: "POST", headers: { "content-type": "application/json" }, body });
while (!(await post().catch(() => null))?.ok) await pause();
for (let n = 0; n < 100 && !existsSync("message.new"); n++) await pause();
const octets = readFileSync("message.new");
const { from, to } = await PostalMime.parse(octets);
for (const [name, read] of [["From", [from]], ["To", to]]) {
  console.log(new RegExp(`^${name}: .*`, "m").exec(String(octets))[0].trim());
  for (const each of read ?? []) console.log(`  ${each?.name} <${each?.address}>`);
}
JS
node server.js & server=$!
trap 'kill $server' EXIT
while [ ! -s port ]; do sleep 0.1; done
cat > config.yml <<CONF
global: { smtp_smarthost: "127.0.0.1:$(cat port)", smtp_from: 'Wächter <alerts@shop.example>', smtp_require_tls: false }
route: { receiver: mail, group_wait: 1s }
receivers: [{ name: mail, email_configs: [{ to: 'Büro <ann@shop.example>, ben@shop.example' }] }]
CONF
at=$(node free.js)
root/usr/bin/prometheus-alertmanager --config.file=config.yml --storage.path=data --web.listen-address="127.0.0.1:$at" \
  --cluster.listen-address= 2>>alertmanager.log & alertmanager=$!
trap 'kill $server $alertmanager' EXIT
node --no-warnings see.mjs "$at" | tee seen
cat > expected <<'TEXT'
From: =?utf-8?q?W=C3=A4chter_<alerts@shop.example>?=
  Wächter  <alerts@shop.example>
To: =?utf-8?q?B=C3=BCro_<ann@shop.example>,_ben@shop.example?=
  =?utf-8?q?B=C3=BCro_ <ann@shop.example>
   <_ben@shop.example?=>
TEXT
diff expected seen
echo 'As expected.'
