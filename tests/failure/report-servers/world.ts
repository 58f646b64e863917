// Runs inside a separate network, in which every name and every address is this process's: no mail can leave.
// It starts one mail server in its tree, hands it a message for each case, and writes down each report that
// comes back.
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { dirname, join } from 'node:path';
import { createTransport } from 'nodemailer';
import { a, mx, startNameServer } from '../../integration/transport/name-server.ts';
import { startSink } from '../../integration/transport/smtp-sink.ts';
import { CASES } from './cases.ts';
import { SERVERS } from './servers.ts';

const [name, root, out] = process.argv.slice(2) as [keyof typeof SERVERS, string, string];
const server = SERVERS[name];
const only = process.argv[5]?.split(',');

const inTree = async (command: string, input = '', env: Record<string, string> = {}): Promise<string> => {
  const child = Bun.spawn(['chroot', root, '/bin/sh', '-c', command], {
    stdin: new Blob([input]),
    stdout: 'pipe',
    stderr: 'pipe',
    env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C', ...env },
  });
  const over = Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  const late = Bun.sleep(20_000).then(() => ['', 'still runs']);
  const [said, complained] = await Promise.race([over, late]);
  return `${said}${complained}`.trim();
};

const refusal = (reply: string) =>
  Object.assign(new Error(reply.slice(4)), { responseCode: Number(reply.slice(0, 3)) });
const caseOf = (address: string) => CASES[address.split('@')[0] as keyof typeof CASES] ?? null;

await using names = await startNameServer(
  {
    'receiver.example MX': [mx('mx.receiver.example', 10)],
    'mx.receiver.example A': [a('127.0.0.2')],
    'bounces.sender.example MX': [mx('mx.receiver.example', 10)],
    'sender.example A': [a('127.0.0.2')],
    'sender.example MX': [mx('mx.receiver.example', 10)],
    'dead.example MX': [mx('mx.dead.example', 10)],
    'mx.dead.example A': [a('127.0.0.3')],
    'nullmx.example MX': [mx('', 0)],
    'example.com A': [a('127.0.0.1')],
    'example.com MX': [mx('mx.example.com', 10)],
    'mx.example.com A': [a('127.0.0.1')],
  },
  53,
);
await using sink = await startSink(
  {
    onMailFrom: ({ address }, _session, done) => {
      const reply = CASES[/^b\+([a-z]+)@/.exec(address)?.[1] ?? '']?.mail;
      done(reply === undefined ? null : refusal(reply));
    },
    onRcptTo: ({ address }, _session, done) => {
      const reply = caseOf(address)?.rcpt;
      done(reply === undefined ? null : refusal(reply.replaceAll('$to', address)));
    },
    onData: (stream, session, done) => {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const to = session.envelope.rcptTo.map(({ address }) => address);
        const from = session.envelope.mailFrom === false ? '' : session.envelope.mailFrom.address;
        const reply = to.map((one) => caseOf(one)?.dot).find((one) => one !== undefined);
        if (reply !== undefined) return done(refusal(reply));
        sink.received.push({ from, to, raw: Buffer.concat(chunks), secure: false, user: null, ehlo: '' });
        done();
      });
    },
    name: 'mx.receiver.example',
    size: 60_000_000,
  },
  { host: '127.0.0.2', port: 25 },
);
void names;

for (const [path, text] of Object.entries(server.files)) {
  await mkdir(dirname(join(root, path)), { recursive: true });
  await writeFile(join(root, path), text);
}
await writeFile(join(root, 'etc/resolv.conf'), 'nameserver 127.0.0.1\n');
await writeFile(join(root, 'etc/hosts'), '127.0.0.1 mx.example.com mx localhost\n');
await writeFile(join(root, 'etc/mailname'), 'mx.example.com\n');
console.log(await inTree(server.start));
if (!server.submit) await listening();

/** Waits until the server takes connections. */
async function listening(): Promise<void> {
  for (let tries = 0; tries < 60; tries++) {
    const socket = connect(25, '127.0.0.1');
    const isOpen = await Promise.race([
      once(socket, 'connect').then(
        () => true,
        () => false,
      ),
      Bun.sleep(1_000).then(() => false),
    ]);
    socket.destroy();
    if (isOpen) return;
    await Bun.sleep(500);
  }
}

const message = (to: string, what: string): string =>
  [
    'From: Shop <shop@sender.example>',
    `To: ${to}`,
    'Subject: Your receipt',
    `Message-ID: <em_${what}@sender.example>`,
    'Date: Fri, 27 Nov 2026 04:00:00 +0000',
    'MIME-Version: 1.0',
    'Content-Type: text/plain; charset=utf-8',
    '',
    'Thank you.',
    '',
  ].join('\n');

for (const [what, { to, wantsSuccess }] of Object.entries(CASES)) {
  if (only && !only.includes(what)) continue;
  const from = `b+${what}@bounces.sender.example`;
  if (server.submit) console.log(what, await inTree(server.submit, message(to, what), { from, to }));
  else {
    const door = createTransport({ host: '127.0.0.1', port: 25, ignoreTLS: true, connectionTimeout: 5_000 });
    const dsn = wantsSuccess
      ? { id: what, return: 'headers' as const, notify: ['success'], recipient: `rfc822;${to}` }
      : undefined;
    await door
      .sendMail({
        envelope: { from, to, ...(dsn && { dsn }) },
        raw: message(to, what).replaceAll('\n', '\r\n'),
      })
      .then(
        ({ response }) => console.log(what, response),
        (error) => console.log(what, String(error)),
      );
    door.close();
  }
}

await mkdir(out, { recursive: true });
const written = new Map<string, number>();
let seen = 0;
for (let round = 0; round < 30; round++) {
  await Bun.sleep(2_500);
  if (server.again && round % 2 === 1) await inTree(server.again);
  for (const { from, to, raw } of sink.received.slice(seen)) {
    const what = /^b\+([a-z-]+)@/.exec(to[0] ?? '')?.[1];
    if (what === undefined) continue;
    const count = (written.get(what) ?? 0) + 1;
    written.set(what, count);
    console.log(`report ${count} of ${what} from <${from}>`);
    await writeFile(join(out, `${name}-${what}${count === 1 ? '' : `-${count}`}.eml`), raw);
  }
  seen = sink.received.length;
}
if (process.env.SHOW_LOOKUPS) console.log(names.asked.join('\n'));
process.exit(0);
