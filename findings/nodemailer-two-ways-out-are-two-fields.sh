#!/bin/sh
# nodemailer 10.6.1 (npm) on Node.
#
# Guess: `list: { unsubscribe: [address, link] }` writes one List-Unsubscribe field with both, in their order (RFC 2369 3.2 shows such a
#        field, and section 4 allows one field of a name).
# Seen:  it writes two fields. Both are in one field when the list is in a list: `[[address, link]]`.
set -eu
cd "$(mktemp -d)"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund nodemailer@10.6.1
cat > see.mjs <<'JS'
import nodemailer from 'nodemailer';
const transport = nodemailer.createTransport({ streamTransport: true, buffer: true });
const ways = ['leave@news.example', 'https://news.example/leave'];
for (const [name, unsubscribe] of [['a list', ways], ['a list in a list', [ways]]]) {
  const { message } = await transport.sendMail({
    from: 'news@news.example', to: 'ada@example.com', subject: 'News', text: 'News', list: { unsubscribe },
  });
  const [header] = message.toString().replace(/\r?\n[ \t]+/g, ' ').split(/\r?\n\r?\n/);
  const fields = header.split(/\r?\n/).filter((line) => /^list-unsubscribe:/i.test(line));
  console.log(`${name}: ${fields.length} field${fields.length === 1 ? '' : 's'}`);
  for (const field of fields) console.log(`  ${field}`);
}
JS
node --no-warnings see.mjs | tee seen
grep -qx 'a list: 2 fields' seen
grep -qx 'a list in a list: 1 field' seen
grep -qx '  List-Unsubscribe: <mailto:leave@news.example>, <https://news.example/leave>' seen
echo 'As expected.'
