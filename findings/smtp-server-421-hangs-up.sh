#!/bin/sh
# smtp-server 3.21.6 (npm), a refusal in `onRcptTo`.
#
# Guess: an error in the callback refuses this recipient, whatever its `responseCode`, and the session goes on.
# Seen:  with 450 the session goes on; with 421 the library ends the connection behind its reply. A server that answers 421 for one busy
#        mailbox puts off every other recipient of the message.
set -eu
cd "$(mktemp -d)"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund smtp-server@3.21.6
cat > look.cjs <<'JS'
const { SMTPServer } = require('smtp-server');
const { once } = require('node:events');
const net = require('node:net');

async function afterRefusal(responseCode) {
  const server = new SMTPServer({
    disabledCommands: ['AUTH', 'STARTTLS'],
    onRcptTo: (_address, _session, done) => done(Object.assign(new Error('busy'), { responseCode })),
  });
  server.listen(0, '127.0.0.1');
  await once(server.server, 'listening');
  const client = net.connect(server.server.address().port, '127.0.0.1');
  const replies = client.setEncoding('utf8')[Symbol.asyncIterator]();
  let text = '';
  // The last line of a reply has a space behind its code.
  const reply = async () => {
    for (;;) {
      const line = /^(\d{3}) .*\r\n/m.exec(text);
      if (line) {
        text = text.slice(line.index + line[0].length);
        return line[1];
      }
      const { value, done } = await replies.next();
      if (done) return 'closed';
      text += value;
    }
  };
  const say = (line) => {
    client.write(`${line}\r\n`);
    return reply();
  };
  await reply();
  await say('EHLO here');
  await say('MAIL FROM:<a@here.example>');
  await say('RCPT TO:<b@there.example>');
  const next = await say('NOOP');
  client.destroy();
  server.close();
  return next;
}
(async () => {
  console.log(`450: ${await afterRefusal(450)}; 421: ${await afterRefusal(421)}`);
  process.exit(0);
})();
JS
node look.cjs | tee seen
grep -qx '450: 250; 421: closed' seen
echo 'As expected.'
