#!/bin/sh
# exim4-daemon-light 4.96-15+deb12u11 (Debian 12, amd64), in a folder with its libraries (chroot) and not installed; mailauth 7.1.0 (npm).
#
# Guess: with `dkim_domain`, `dkim_selector` and a key alone, Exim signs the fields that a message has. A mailing list that adds a List-Id,
#        and changes nothing else, leaves the signature valid; the two fields of a link to unsubscribe are both signed.
# Seen:  it signs List-Id, Sender and twenty more that are not there, so that the message of a list fails for each reader.
#        List-Unsubscribe-Post is not signed, which RFC 8058 (4) requires: a newsletter has no unsubscription by one click.
set -eu
cd "$(mktemp -d)"
command -v openssl >/dev/null || apt-get install -yqq openssl >/dev/null
apt-get download -qq exim4-daemon-light=4.96-15+deb12u11 libc6 libcom-err2 libcrypt1 libdb5.3 libevent-2.1-7 libffi8 libgmp10 \
  libgnutls-dane0 libgnutls30 libgssapi-krb5-2 libhogweed6 libidn12 libidn2-0 libk5crypto3 libkeyutils1 libkrb5-3 libkrb5support0 \
  libnettle8 libnsl2 libp11-kit0 libpcre2-8-0 libssl3 libtasn1-6 libtirpc3 libunbound8 libunistring2 2>apt.log
for package in *.deb; do dpkg -x "$package" root; done
mkdir -p root/etc root/dev root/var/spool/exim4 root/var/log/exim4
for device in null urandom; do cp -a "/dev/$device" root/dev/; done
echo 'root:x:0:0::/:/bin/sh
Debian-exim:x:990:990::/var/spool/exim4:/bin/false' > root/etc/passwd
echo 'root:x:0:
Debian-exim:x:990:' > root/etc/group
chown -R 990:990 root/var/spool/exim4 root/var/log/exim4
openssl genrsa -out root/etc/dkim.key 2048 2>openssl.log
openssl rsa -in root/etc/dkim.key -pubout -out public.pem 2>openssl.log
chmod 644 root/etc/dkim.key
npm init -y >/dev/null
npm install --silent --no-audit --no-fund mailauth@7.1.0
cat > sink.mjs <<'JS'
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
// One answer a line, and the message into a file.
const server = createServer((socket) => {
  let message;
  let rest = '';
  socket.setEncoding('latin1').write('220 sink\r\n');
  socket.on('data', (text) => {
    const lines = (rest + text).split('\r\n');
    rest = lines.pop();
    for (const line of lines) {
      if (message && line !== '.') message.push(line.replace(/^\./, ''));
      else {
        if (message) writeFileSync('signed.eml', message.join('\r\n') + '\r\n', 'latin1');
        message = line === 'DATA' ? [] : undefined;
        socket.write(message ? '354 go\r\n' : '250 ok\r\n');
      }
    }
  });
});
server.listen(0, '127.0.0.1', () => writeFileSync('port', String(server.address().port)));
JS
node sink.mjs &
sink=$!
trap 'kill $sink' EXIT
while [ ! -s port ]; do sleep 0.2; done
cat > root/etc/exim.conf <<TEXT
primary_hostname = mail.shop.example
disable_ipv6 = true
exim_user = Debian-exim
exim_group = Debian-exim
keep_environment =
begin routers
all:
  driver = manualroute
  route_list = * 127.0.0.1
  self = send
  transport = out
begin transports
out:
  driver = smtp
  port = $(cat port)
  dkim_domain = shop.example
  dkim_selector = s1
  dkim_private_key = /etc/dkim.key
begin retry
* * F,1m,1m
TEXT
cat > see.mjs <<'JS'
import { readFileSync } from 'node:fs';
import { dkimVerify } from 'mailauth/lib/dkim/verify.js';
const key = readFileSync('public.pem', 'latin1').replace(/-----.*-----|\n/g, '');
const resolver = async () => [[`v=DKIM1; p=${key}`]];
const signed = readFileSync('signed.eml', 'latin1');
const [head] = signed.split('\r\n\r\n');
const named = /[; \t]h=([^;]*)/.exec(head)[1].replace(/\s/g, '').toLowerCase().split(':');
const there = head.toLowerCase().split('\r\n').map((line) => /^[a-z-]+(?=:)/.exec(line)?.[0]);
console.log(`${named.filter((name) => !there.includes(name)).length} fields signed that are not there`);
for (const name of ['list-id', 'sender', 'list-unsubscribe', 'list-unsubscribe-post']) {
  console.log(`${name}: ${there.includes(name) ? 'there' : 'not there'}, ${named.includes(name) ? 'signed' : 'not signed'}`);
}
const result = async (text) => (await dkimVerify(Buffer.from(text, 'latin1'), { resolver })).results[0].status.result;
console.log(`as it left: ${await result(signed)}; with a List-Id: ${await result(`List-Id: <talk.lists.example>\r\n${signed}`)}`);
JS
chroot root /usr/sbin/exim4 -C /etc/exim.conf -odi -f ann@shop.example talk@lists.example 2>exim.log <<'TEXT'
From: Ann <ann@shop.example>
To: talk@lists.example
Subject: Hello
List-Unsubscribe: <https://shop.example/leave/1>
List-Unsubscribe-Post: List-Unsubscribe=One-Click

Hello list.
TEXT
node --no-warnings see.mjs | tee seen
cat > expected <<'TEXT'
22 fields signed that are not there
list-id: not there, signed
sender: not there, signed
list-unsubscribe: there, signed
list-unsubscribe-post: there, not signed
as it left: pass; with a List-Id: fail
TEXT
diff expected seen
echo 'As expected.'
