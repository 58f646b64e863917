#!/bin/sh
# Alertmanager 0.25.0 (Debian 12, amd64: prometheus-alertmanager 0.25.0-1+b4), unpacked and not installed.
#
# Guess: a server that refuses a message after DATA, with 554, makes a failed notification, which is tried again and counted in
#        alertmanager_notifications_failed_total.
# Seen:  the reply after the final dot is not looked at: the notification is a success at the first attempt, and the alert is lost. A 554
#        to RCPT fails, and is tried again.
set -eu
cd "$(mktemp -d)"
apt-get download -qq prometheus-alertmanager=0.25.0-1+b4 2>apt.log
for package in *.deb; do dpkg -x "$package" root; done
cat > server.js <<'JS'
const { writeFileSync } = require("node:fs");
const [, , refused] = process.argv;
require("node:net").createServer((socket) => {
  let isData = false;
  socket.on("error", () => socket.destroy());
  socket.write("220 mx\r\n");
  const answer = (step, reply) => socket.write(step === refused ? "554 5.7.1 refused\r\n" : reply);
  socket.on("data", (data) => {
    for (const line of String(data).split("\r\n").slice(0, -1)) {
      if (isData) line === "." && ((isData = false), answer("message", "250 ok\r\n"));
      else if (/^DATA/i.test(line)) (isData = true), socket.write("354 go on\r\n");
      else if (/^RCPT/i.test(line)) answer("RCPT", "250 ok\r\n");
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
cat > see.js <<'JS'
const [, , port] = process.argv;
const base = `http://127.0.0.1:${port}`;
const pause = () => new Promise((done) => setTimeout(done, 200));
const counts = async () => {
  const text = await (await fetch(`${base}/metrics`)).text();
  const of = (name) => Number(new RegExp(`^alertmanager_${name}\\{integration="email".*\\} (\\d+)`, "m").exec(text)?.[1] ?? 0);
  return { tries: of("notification_requests_total"), refused: of("notification_requests_failed_total") };
};
const alert = [{ labels: { alertname: "DiskFull" } }];
const post = () =>
  fetch(`${base}/api/v2/alerts`, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(alert) });
while (!(await post().catch(() => null))?.ok) await pause();
let seen = await counts();
for (let n = 0; n < 100 && seen.tries === 0; n++) await pause(), (seen = await counts());
console.log(`  ${seen.refused === 0 ? "sent, at the first attempt" : "failed, and tried again"}`);
JS
mv see.js see.mjs
trap 'kill $server $alertmanager' EXIT
for refused in RCPT message; do
  rm -rf port data
  node server.js "$refused" & server=$!
  while [ ! -s port ]; do sleep 0.1; done
  cat > config.yml <<CONF
global: { smtp_smarthost: "127.0.0.1:$(cat port)", smtp_from: alerts@shop.example, smtp_require_tls: false }
route: { receiver: mail, group_wait: 1s }
receivers: [{ name: mail, email_configs: [{ to: ann@home.example }] }]
CONF
  at=$(node free.js)
  root/usr/bin/prometheus-alertmanager --config.file=config.yml --storage.path=data --web.listen-address="127.0.0.1:$at" \
    --cluster.listen-address= 2>>alertmanager.log & alertmanager=$!
  echo "554 to the $refused:"
  node --no-warnings see.mjs "$at"
  kill $server $alertmanager
  wait $server $alertmanager || true
done > seen
trap - EXIT
cat seen
cat > expected <<'TEXT'
554 to the RCPT:
  failed, and tried again
554 to the message:
  sent, at the first attempt
TEXT
diff expected seen
echo 'As expected.'
