// Shows that large messages stay within their memory, however many come at once and however slowly:
//
//   POSTHORN_EXECUTABLE=dist/posthorn bun tests/failure/submission-memory-long.ts [--messages 50] [--most 1200] [--help]
//
// Two workspaces submit messages of 25 MiB, all at once: by SMTP, then by SMTP where slow clients of a third
// workspace hold their memory, then by POST /v1/emails/raw. A client that is put off (421, 45x, 503) waits
// and sends again. Of each phase the peak of the resident memory is printed, read from Linux. It ends with an
// error where a peak is above `--most` MB, a message was refused for another reason, or one that was accepted
// has not reached the sink. It takes some minutes, and 4 GB of the disk.
import { parseArgs } from 'node:util';
import { freePort } from '../../src/ops/torture/free-port.ts';
import { openSink } from '../bench/live.ts';
import { onlooker } from '../bench/lives.ts';
import { forgetMost, memoryOf } from '../bench/memory.ts';
import { openSubmitter } from '../bench/submitter.ts';
import { SmtpClient } from '../integration/transport/smtp-client.ts';
import { createClient } from '../support/client.ts';
import { startCluster } from '../support/cluster.ts';
import { eventually } from '../support/eventually.ts';
import { COMMAND, LIVE_KEY, startService } from '../support/service.ts';

const { values } = parseArgs({
  options: {
    messages: { type: 'string', default: '50' },
    most: { type: 'string', default: '1200' },
    help: { type: 'boolean' },
  },
});
if (values.help) {
  console.log('bun tests/failure/submission-memory-long.ts [--messages 50] [--most 1200]');
  process.exit(0);
}
const [messages, most] = [Number(values.messages), Number(values.most)];

await using stack = new AsyncDisposableStack();
const sink = stack.use(await openSink());
const cluster = await startCluster();
stack.defer(() => cluster.stop());
const port = await freePort();
const env = {
  DATABASE_URL: cluster.url,
  SECRET_KEY: 'only-for-this-bench-only-for-this-bench',
  SMTP_URL: `smtp://127.0.0.1:${sink.port}?tls=none`,
  SUBMISSION_PORT: String(port),
  DEFAULT_PLAN: 'unlimited',
  RATE_LIMIT_PER_IP: '0',
  RATE_LIMIT_PER_KEY: '0',
  LOG_LEVEL: 'warn',
};
const said = async (...words: string[]): Promise<string> => {
  const child = Bun.spawn([...COMMAND, ...words], {
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env },
    stdout: 'pipe',
    stderr: 'inherit',
  });
  return (await new Response(child.stdout).text()).trim();
};

interface Owner {
  readonly key: string;
  readonly domain: string;
}

// A reserved name verifies while mail is captured, and stays verified.
const first = await startService({ env });
const owners: Owner[] = [];
for (const name of ['one', 'two', 'slow']) {
  const workspace = name === 'one' ? null : await said('workspaces', 'create', name);
  const made = workspace && (await said('keys', 'create', '--env', 'live', '--workspace', workspace));
  const key = made === null ? LIVE_KEY : (/svc_live_\w+/.exec(made)?.[0] ?? '');
  const domain = `${name}.example`;
  const { body } = await createClient(first.url, key).post('/v1/domains', { name: domain });
  if (body.data?.status !== 'verified') throw new Error(`${domain}: ${JSON.stringify(body)}`);
  owners.push({ key, domain });
}
await first.stop();
const service = stack.use(await startService({ env: { ...env, TRANSPORT: 'smtp' } }));
const sql = onlooker(cluster.url);
stack.defer(() => sql.end());

const LARGEST = 25 * 1024 * 1024;
const head = ({ domain }: Owner, n: number): string =>
  [
    `From: Shop <shop@${domain}>`,
    `To: r${n}@receiver.example`,
    `Subject: Order ${n}`,
    'Date: Fri, 27 Nov 2026 10:00:00 +0000',
    'MIME-Version: 1.0',
    'Content-Type: application/octet-stream',
    'Content-Transfer-Encoding: base64',
    '',
    '',
  ].join('\r\n');
// Random octets, which no compression makes smaller.
const random = Buffer.from(crypto.getRandomValues(new Uint8Array(57 * 1_024)));
const lines = random.toString('base64').replace(/.{76}/g, '$&\r\n');
const body = Buffer.from(lines.repeat(Math.floor((LARGEST - 400) / lines.length)), 'latin1');
const messageOf = (owner: Owner, n: number): Buffer =>
  Buffer.concat([Buffer.from(head(owner, n), 'latin1'), body]);

const faults: string[] = [];
let [number, accepted] = [0, 0];
/** Sends until it is taken, or refused for good; the number of times that it was put off. */
async function sendBy(send: (n: number) => Promise<string | null>): Promise<number> {
  const n = number++;
  let putOff = -1;
  await eventually(
    `message ${n} is taken`,
    async () => {
      putOff++;
      const refusal = await send(n).catch((error: Error) => error.message);
      if (refusal === null) accepted++;
      // 454: the key could not be checked (RFC 4954 4).
      else if (/^(?:\w+: )?(?:421|45[124]|503)|hung up|ECONN|EPIPE|socket/i.test(refusal)) return undefined;
      else {
        faults.push(refusal);
        console.log(`✗ message ${n}: ${refusal}`);
      }
      return true;
    },
    // Those who were put off come again at different moments.
    { withinMs: 3_600_000, everyMs: 300 + (n % 10) * 70 },
  );
  return putOff;
}
const bySmtp = (owner: Owner, n: number) => async (): Promise<string | null> => {
  const session = await openSubmitter({ port, auth: { user: 'svc', pass: owner.key } });
  try {
    await session.send(`shop@${owner.domain}`, `r${n}@receiver.example`, messageOf(owner, n));
    return null;
  } finally {
    session.close();
  }
};
const byHttp = (owner: Owner, n: number) => async (): Promise<string | null> => {
  const answer = await fetch(new URL('/v1/emails/raw', service.url), {
    method: 'POST',
    headers: { authorization: `Bearer ${owner.key}`, 'content-type': 'message/rfc822' },
    body: messageOf(owner, n) as Buffer<ArrayBuffer>,
  });
  return answer.status === 202 ? null : `${answer.status} ${(await answer.text()).slice(0, 300)}`;
};
type Way = (owner: Owner, n: number) => () => Promise<string | null>;

const idle = memoryOf(service.pid).now;
async function phase(name: string, way: Way): Promise<void> {
  forgetMost(service.pid);
  const before = accepted;
  const putOff = await Promise.all(
    Array.from({ length: messages }, (_, at) => sendBy((n) => way(owners[at % 2] as Owner, n)())),
  );
  const expected = accepted;
  await eventually(
    'all have left',
    async () => {
      const [row] = await sql<
        { n: number }[]
      >`select count(*)::int as n from email_turns where state = 'sent'`;
      return (row?.n ?? 0) >= expected || undefined;
    },
    { withinMs: 1_800_000, everyMs: 500 },
  );
  const peak = memoryOf(service.pid).most;
  if (peak > most) faults.push(`${name}: a peak of ${peak} MB`);
  const times = putOff.reduce((sum, one) => sum + one, 0);
  console.log(
    `${name}: ${accepted - before} of ${messages} messages of 25 MiB were taken and have left, put off ${times} times; peak ${peak} MB (idle ${idle} MB)`,
  );
}

/** Sessions that have sent most of a message, and go on octet by octet. */
async function slowClients(owner: Owner): Promise<() => void> {
  const clients: SmtpClient[] = [];
  for (let n = 0; n < 5; n++) {
    const client = await SmtpClient.open(port);
    await client.say('EHLO slow.example');
    await client.say(`AUTH PLAIN ${Buffer.from(`\0svc\0${owner.key}`).toString('base64')}`);
    await client.say(`MAIL FROM:<shop@${owner.domain}>`);
    await client.say('RCPT TO:<slow@receiver.example>');
    await client.say('DATA');
    client.sendOctets(messageOf(owner, n).subarray(0, LARGEST - 1_048_576));
    clients.push(client);
  }
  const sendOctet = () => {
    for (const client of clients) client.sendOctets(Buffer.from('A'));
  };
  const drip = setInterval(sendOctet, 1_000);
  return () => {
    clearInterval(drip);
    for (const client of clients) client.end();
  };
}

await phase('SMTP', bySmtp);
const stop = await slowClients(owners[2] as Owner);
await phase('SMTP beside five slow clients', bySmtp);
await phase('POST /v1/emails/raw beside them', byHttp);
await phase('both ways at once beside them', (owner, n) => (n % 2 === 0 ? bySmtp : byHttp)(owner, n));
stop();
for (const fault of new Set(faults)) console.log(`✗ ${fault}`);
console.log(faults.length === 0 ? `No peak was above ${most} MB.` : `WRONG: ${faults.length} faults.`);
process.exit(faults.length === 0 ? 0 : 1);
