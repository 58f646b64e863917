#!/bin/sh
# imapflow 2.10.2 (npm) on Node, at a server that says what Cyrus does without `altnamespace`: own folders begin with `INBOX.` (RFC 2342).
#
# Guess: the prefix is put before a name without one, such as Sent; a name that begins as the server says of other people's folders, or of
#        shared ones, is asked for as it is, since the client has read all three kinds.
# Seen:  the prefix is put before every name that does not begin with it. user.ben and Public.Support, which the server lists, are named
#        INBOX.user.ben and INBOX.Public.Support by `list()`, and asked for so by `mailboxOpen`: no folder of another person or a team opens.
set -eu
cd "$(mktemp -d)"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund imapflow@2.10.2
cat > see.mjs <<'JS'
import { createServer } from 'node:net';
import { ImapFlow } from 'imapflow';
const asked = [];
const server = createServer((socket) => {
  const say = (line) => socket.write(`${line}\r\n`);
  let rest = '';
  socket.on('error', () => {}).on('data', (octets) => {
    const lines = (rest + octets).split('\r\n');
    rest = lines.pop();
    for (const line of lines) {
      const [tag, command, name] = line.split(' ');
      if (command === 'CAPABILITY') say('* CAPABILITY IMAP4rev1 NAMESPACE');
      if (command === 'NAMESPACE') say('* NAMESPACE (("INBOX." ".")) (("user." ".")) (("Public." "."))');
      if (command === 'LIST' && line.endsWith('"*"'))
        for (const folder of ['INBOX', 'INBOX.Sent', 'user.ben', 'Public.Support']) say(`* LIST () "." ${folder}`);
      if (command === 'EXAMINE') {
        asked.push(name);
        say('* 0 EXISTS');
      }
      say(`${tag} OK done`);
    }
  });
  say('* OK ready');
});
server.listen(0, '127.0.0.1', async () => {
  const { port } = server.address();
  const client = new ImapFlow({ host: '127.0.0.1', port, secure: false, auth: { user: 'ann', pass: 'x' }, logger: false });
  await client.connect();
  console.log(`listed: ${(await client.list()).map(({ path }) => path).sort().join(' ')}`);
  for (const path of ['Sent', 'user.ben', 'Public.Support']) {
    await client.mailboxOpen(path, { readOnly: true });
    console.log(`${path} is asked for as ${asked.pop()}`);
  }
  client.close();
  server.close();
});
JS
node --no-warnings see.mjs | tee seen
cat > expected <<'TEXT'
listed: INBOX INBOX.Public.Support INBOX.Sent INBOX.user.ben
Sent is asked for as INBOX.Sent
user.ben is asked for as INBOX.user.ben
Public.Support is asked for as INBOX.Public.Support
TEXT
diff expected seen
echo 'As expected.'
