// Mail that is taken from other servers, beside a Postfix that checks SPF, DKIM and DMARC as well and stores
// to disk, in turns in one run:
//   POSTHORN_EXECUTABLE=dist/posthorn bun tests/bench/received-rate.ts [--messages 3000] [--rounds 5] [--connections 16] [--kilobytes 4] [--threads]
// It needs root and a file tree of debootstrap with Debian's postfix, opendkim, opendmarc and
// postfix-policyd-spf-python, and port 53 of 127.0.0.1 for a name server of this process, which both ask.
// Each message has one recipient and a signature (RSA-2048). Posthorn has stored it when it answers; Postfix
// has it in its queue then, and later in a Maildir: both moments are counted. On a quiet machine the rates
// tell; on a busy one the processor time a message does. --threads tells that of each thread of Posthorn.
import { generateKeyPairSync } from 'node:crypto';
import { loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { dkimSign } from 'mailauth/lib/dkim/sign.js';
import postgres from 'postgres';
import { freePort } from '../../src/ops/torture/free-port.ts';
import { startNameServer, txt } from '../integration/transport/name-server.ts';
import { createClient } from '../support/client.ts';
import { startCluster } from '../support/cluster.ts';
import { eventually } from '../support/eventually.ts';
import { LIVE_KEY, startService } from '../support/service.ts';
import { startCheckedPostfix } from './checked-postfix.ts';
import { meterCpu, meterThreads, parentOf } from './cpu.ts';
import { median } from './median.ts';
import { submitAll } from './submitter.ts';

const { values } = parseArgs({
  options: {
    messages: { type: 'string', default: '3000' },
    rounds: { type: 'string', default: '5' },
    connections: { type: 'string', default: '16' },
    kilobytes: { type: 'string', default: '4' },
    threads: { type: 'boolean', default: false },
  },
});
const [messages, rounds] = [Number(values.messages), Number(values.rounds)];
const [connections, kilobytes] = [Number(values.connections), Number(values.kilobytes)];
const FROM = 'ada@customer.example';
const TO = 'support@acme.example';
const WARM_UP = 300;

await using stack = new AsyncDisposableStack();
const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
const key = {
  signingDomain: 'customer.example',
  selector: 's1',
  privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
};
const record = `v=DKIM1; k=rsa; p=${publicKey.export({ type: 'spki', format: 'der' }).toString('base64')}`;
const dns = stack.use(
  await startNameServer(
    {
      // A resolver of a mail server remembers them as well.
      'customer.example TXT': [{ ...txt('v=spf1 ip4:127.0.0.1 -all'), ttl: 300 }],
      '_dmarc.customer.example TXT': [{ ...txt('v=DMARC1; p=reject'), ttl: 300 }],
      's1._domainkey.customer.example TXT': [{ ...txt(record.slice(0, 250), record.slice(250)), ttl: 300 }],
    },
    53,
  ),
);
const postfix = await startCheckedPostfix();
if ('reason' in postfix) {
  console.error(`Not run: ${postfix.reason}.`);
  process.exit(1);
}
stack.use(postfix);

const cluster = await startCluster();
stack.defer(() => cluster.stop());
const port = await freePort();
const service = stack.use(
  await startService({
    env: {
      DATABASE_URL: cluster.url,
      SECRET_KEY: 'a bench has no secrets, but needs a key',
      INBOUND_SMTP_PORT: String(port),
      DNS_SERVERS: `${dns.server.address}:${dns.server.port}`,
      DEFAULT_PLAN: 'unlimited',
      LOG_LEVEL: 'warn',
    },
  }),
);
const client = createClient(service.url, LIVE_KEY);
const domain = await client.post('/v1/domains', { name: 'acme.example' });
const match = { type: 'exact', localPart: 'support' };
const routed = await client.post('/v1/inbound-routes', {
  domainId: domain.body.data?.id,
  match,
  action: { type: 'keep' },
});
if (routed.status !== 201) throw new Error(JSON.stringify(routed.body));
const sql = postgres(cluster.url, { max: 1, onnotice: () => {} });
stack.defer(() => sql.end());
const [backend] = await sql<{ pid: number }[]>`select pg_backend_pid() as pid`;
const server = parentOf(backend?.pid ?? 0);

const line = 'Your order is on its way, and here is all that you have to know about it.\r\n';
let number = 0;
/** A signed message that no other is like. */
async function signed(): Promise<Buffer> {
  const message = [
    `From: Ada <${FROM}>`,
    `To: ${TO}`,
    `Subject: Order ${++number}`,
    'Date: Sun, 29 Nov 2026 10:00:00 +0000',
    `Message-ID: <${number}.${crypto.randomUUID()}@customer.example>`,
    'MIME-Version: 1.0',
    'Content-Type: text/plain; charset=utf-8',
    '',
    line.repeat(Math.ceil((kilobytes * 1_000) / line.length)).trimEnd(),
  ].join('\r\n');
  const { signatures } = await dkimSign(message, { ...key, signatureData: [key] });
  return Buffer.from(signatures + message);
}

interface Side {
  readonly port: number;
  /** Resolves once so many messages in all are where they stay. */
  stored(count: number): Promise<unknown>;
  /** Starts measuring; the answer tells microseconds of processors a message. */
  meter(): (items: number) => number;
}
const PATIENCE = { withinMs: 600_000, everyMs: 100 };
const sides: Readonly<Record<'Posthorn' | 'Postfix', Side>> = {
  Posthorn: {
    port,
    stored: async () => {},
    meter() {
      const cpu = meterCpu([service.pid], server);
      return (items) => {
        const { service: own, postgres: database } = cpu(items);
        return own + database;
      };
    },
  },
  Postfix: {
    port: postfix.port,
    stored: (count) =>
      eventually('the Maildir has all', async () => (await postfix.stored()) >= count || undefined, PATIENCE),
    meter() {
      const before = postfix.worked();
      return (items) => (postfix.worked() - before) / items;
    },
  },
};

interface Round {
  /** Messages a second until the last was answered, and until the last was stored. */
  readonly answered: number;
  readonly stored: number;
  readonly micros: number;
}
const given = { Posthorn: 0, Postfix: 0 };
async function take(name: keyof typeof sides, mails: readonly Buffer[]): Promise<Round> {
  const side = sides[name];
  const cost = side.meter();
  const begin = performance.now();
  const octets = mails.map((one) => ({ from: FROM, to: TO, octets: one }));
  const { taken, refusals } = await submitAll({ port: side.port }, connections, octets);
  if (taken < mails.length) throw new Error(`${name} refused: ${[...refusals.keys()].join('; ')}`);
  const answered = performance.now() - begin;
  given[name] += mails.length;
  await side.stored(given[name]);
  const stored = performance.now() - begin;
  const rate = (ms: number): number => (mails.length / ms) * 1_000;
  return { answered: rate(answered), stored: rate(stored), micros: cost(mails.length) };
}
const mailsOf = async (count: number): Promise<Buffer[]> => {
  const mails: Buffer[] = [];
  while (mails.length < count) mails.push(await signed());
  return mails;
};

const warm = await mailsOf(WARM_UP);
for (const name of ['Posthorn', 'Postfix'] as const) await take(name, warm);
const [checked] = await sql<
  { authentication: Record<string, string> }[]
>`select authentication from received limit 1`;
const { spf, dkim, dmarc } = checked?.authentication ?? {};
const results = await postfix.results();
const areChecked = [spf, dkim, dmarc].every((one) => one === 'pass');
const arePostfixChecked = ['spf=pass', 'dkim=pass', 'dmarc=pass'].every((one) =>
  results.toLowerCase().includes(one),
);
if (!areChecked || !arePostfixChecked)
  throw new Error(`Not all is checked: Posthorn ${JSON.stringify(checked)}; Postfix ${results}`);

const rows: Record<keyof typeof sides, Round[]> = { Posthorn: [], Postfix: [] };
const threads = meterThreads(service.pid);
for (let round = 1; round <= rounds; round++) {
  const mails = await mailsOf(messages);
  for (const name of ['Posthorn', 'Postfix'] as const) {
    const found = await take(name, mails);
    rows[name].push(found);
    console.log(
      `round ${round}, ${name.padEnd(8)} ${found.answered.toFixed(0).padStart(5)} a second answered, ${found.stored.toFixed(0).padStart(5)} stored, ${found.micros.toFixed(0).padStart(5)} µs of processors a message`,
    );
  }
}
const middle = (name: keyof typeof sides, part: keyof Round): number =>
  median(rows[name].map((one) => one[part]));
console.table(
  Object.fromEntries(
    (['Posthorn', 'Postfix'] as const).map((name) => [
      name,
      {
        'answered a second': Math.round(middle(name, 'answered')),
        'stored a second': Math.round(middle(name, 'stored')),
        'µs of processors a message': Math.round(middle(name, 'micros')),
      },
    ]),
  ),
);
if (values.threads) console.table(threads(messages * rounds));
const share = middle('Posthorn', 'answered') / middle('Postfix', 'answered');
console.log(
  `Posthorn answers ${share.toFixed(2)} of Postfix's messages a second, stores ${(middle('Posthorn', 'stored') / middle('Postfix', 'stored')).toFixed(2)}, and takes ${(middle('Posthorn', 'micros') / middle('Postfix', 'micros')).toFixed(2)} of its processor time a message. The load of the machine was ${loadavg()[0]?.toFixed(1)}.`,
);
console.log(`${share >= 0.8 ? 'met' : 'missed'}: 0.8 of Postfix's messages a second`);
process.exitCode = share >= 0.8 ? 0 : 1;
