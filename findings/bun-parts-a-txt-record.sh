#!/bin/sh
# Bun 1.4.5 (npm) beside Node, `node:dns`, asked of a name server on this machine.
#
# Guess: `resolveTxt` answers a list for each record, with the strings of the record in it: a DKIM key of 2048 bits, which needs two
#        strings, is one record. A name that has other records, and none of the type, is ENODATA; one that does not exist is ENOTFOUND.
# Seen:  Node does so. In Bun each string is a record: the key is two halves, and a check that several policies count as none sees several.
#        Both names are ENOTFOUND: who writes "this domain does not exist" says it of domains without MX.
set -eu
cd "$(mktemp -d)"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund bun@1.4.5
cat > see.mjs <<'JS'
import { createSocket } from 'node:dgram';
import { promises as dns } from 'node:dns';
const strings = (...texts) => Buffer.concat(texts.flatMap((text) => [Buffer.from([text.length]), Buffer.from(text)]));
const records = { key: [strings('v=DKIM1; p=AAAA', 'BBBB')], other: [] };
const server = createSocket('udp4', (query, { port, address }) => {
  const label = query.toString('latin1', 13, 13 + query[12]);
  const end = query.indexOf(0, 12) + 5;
  const found = records[label];
  const answers = (found ?? []).flatMap((data) => [Buffer.from([0xc0, 12, 0, 16, 0, 1, 0, 0, 0, 60, 0, data.length]), data]);
  const head = Buffer.from([query[0], query[1], 0x85, found ? 0x80 : 0x83, 0, 1, 0, (found ?? []).length, 0, 0, 0, 0]);
  server.send(Buffer.concat([head, query.subarray(12, end), ...answers]), port, address);
});
await new Promise((resolve) => server.bind(0, '127.0.0.1', resolve));
const resolver = new dns.Resolver({ tries: 1 });
resolver.setServers([`127.0.0.1:${server.address().port}`]);
const name = process.versions.bun ? 'bun' : 'node';
for (const label of ['key', 'other', 'absent'])
  console.log(`${name}, ${label}: ${await resolver.resolveTxt(`${label}.shop.example`).then(JSON.stringify, ({ code }) => code)}`);
server.close();
JS
{ node --no-warnings see.mjs; node_modules/.bin/bun see.mjs; } | tee seen
cat > expected <<'TEXT'
node, key: [["v=DKIM1; p=AAAA","BBBB"]]
node, other: ENODATA
node, absent: ENOTFOUND
bun, key: [["v=DKIM1; p=AAAA"],["BBBB"]]
bun, other: ENOTFOUND
bun, absent: ENOTFOUND
TEXT
diff expected seen
echo 'As expected.'
