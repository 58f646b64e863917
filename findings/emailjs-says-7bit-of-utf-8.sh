#!/bin/sh
# emailjs 5.0.3 (npm) on Node.
#
# Guess: a text with letters beyond ASCII is written as quoted-printable or base64, or at least as `8bit`: `7bit` is for ASCII alone
#        (RFC 2045 6.2).
# Seen:  the part says `7bit` and holds UTF-8 octets. The html of the same message is base64, so that only the text is affected. A relay that
#        goes by the label hands 8-bit octets to a server that does not offer 8BITMIME (RFC 6152).
set -eu
cd "$(mktemp -d)"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund emailjs@5.0.3
cat > see.mjs <<'JS'
import { Message } from 'emailjs';
const message = new Message({
  from: 'shop@shop.example', to: 'ada@example.com', subject: 'Order', text: 'Grüße',
  attachment: [{ data: '<p>Grüße</p>', alternative: true }],
});
const octets = Buffer.from(await message.readAsync());
for (const part of octets.toString('utf8').split(/\r\n--/)) {
  const type = /^Content-Type: *(text\/\w+)/im.exec(part)?.[1];
  if (!type) continue;
  const encoding = /^Content-Transfer-Encoding: *(\S+)/im.exec(part)?.[1];
  console.log(`${type} says ${encoding} and is ${/\P{ASCII}/u.test(part) ? 'UTF-8' : 'ASCII'}`);
}
JS
node --no-warnings see.mjs | tee seen
grep -qx 'text/plain says 7bit and is UTF-8' seen
grep -qx 'text/html says base64 and is ASCII' seen
echo 'As expected.'
