// Sends at two speeds through relays with limits, and counts how many emails were put off:
//   POSTHORN_EXECUTABLE=dist/posthorn bun tests/failure/relay-limits-long.ts [--only courier,exim]
// First two servers of this repository, each with one limit that real servers have: none may be put off. Then
// Exim, OpenSMTPD and Courier of Debian with their default limits, each in a separate file tree (it needs
// root and debootstrap): at most 1 % may be put off. Each email arrives once.
import { parseArgs } from 'node:util';
import { createClient } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { type LimitedSmtp, type ServerLimits, startLimitedSmtp } from '../support/limited-smtp.ts';
import { createTestDatabase } from '../support/postgres.ts';
import { LIVE_KEY, startService } from '../support/service.ts';
import { RELAYS, startRelay } from './report-servers/relays.ts';
import { missing } from './report-servers/trees.ts';

const LIMITS: readonly (readonly [what: string, limits: ServerLimits, emails: number])[] = [
  [
    '100 mails a session',
    {
      mailsPerSession: {
        most: 100,
        refusal: { at: 'mail', reply: '452 4.5.3 Too many recipients: Too many messages sent' },
      },
    },
    400,
  ],
  [
    '5 connections',
    {
      connections: {
        most: 5,
        refusal: {
          at: 'connect',
          how: 'greeting',
          reply: '421 Too many concurrent SMTP connections; please try again later.',
        },
      },
    },
    200,
  ],
];
const A_SECOND = [2, 50] as const;
/** Emails through each real server: OpenSMTPD ends a session after 100. */
const REAL_EMAILS = 400;

interface Row {
  readonly relay: string;
  readonly aSecond: number;
  readonly emails: number;
  readonly putOff: number;
  readonly arrived: number;
  readonly twice: number;
  readonly refused: number;
}

/** A server to send to, and the end of the way. */
interface Way {
  readonly port: number;
  readonly sink: Pick<LimitedSmtp, 'taken' | 'refused'>;
  readonly queued?: () => Promise<readonly string[]>;
}

async function run(
  relay: string,
  { port, sink, queued = async () => sink.taken }: Way,
  emails: number,
  aSecond: number,
): Promise<Row> {
  await using database = await createTestDatabase();
  const env = {
    DATABASE_URL: database.url,
    SECRET_KEY: 'only-for-tests-only-for-tests-only',
    SMTP_URL: `smtp://127.0.0.1:${port}?tls=none`,
    RATE_LIMIT_PER_IP: '0',
    RATE_LIMIT_PER_KEY: '0',
    DEFAULT_PLAN: 'unlimited',
    LOG_LEVEL: 'warn',
  };
  {
    // While mail is captured a reserved name verifies at once; the domain then stays verified.
    await using first = await startService({ env });
    await createClient(first.url, LIVE_KEY).post('/v1/domains', { name: 'sender.example' });
    await first.stop();
  }
  await using service = await startService({ env: { ...env, TRANSPORT: 'smtp' } });
  const client = createClient(service.url, LIVE_KEY);
  const ids: string[] = [];
  const posts: Promise<unknown>[] = [];
  const send = async (n: number) => {
    const email = {
      from: 'shop@sender.example',
      to: `r${n}@example.com`,
      subject: 'Order',
      text: 'It is here.',
    };
    ids.push((await client.post('/v1/emails', email)).body.data.id);
  };
  const began = performance.now();
  for (let n = 0; n < emails; n++) {
    await Bun.sleep(Math.max(0, began + (n * 1_000) / aSecond - performance.now()));
    posts.push(send(n));
  }
  await Promise.all(posts);
  const taken = await eventually('all have arrived', async () => {
    const recipients = await queued();
    return new Set(recipients).size === emails ? recipients : undefined;
  });
  let putOff = 0;
  for (const id of ids) {
    const { evidence } = (await client.get(`/v1/emails/${id}/explain`)).body.data;
    if (evidence.some(({ text }: { text: string }) => text.includes('put off'))) putOff += 1;
  }
  const arrived = new Set(taken).size;
  const { refused } = sink;
  return { relay, aSecond, emails, putOff, arrived, twice: taken.length - arrived, refused };
}

const { values } = parseArgs({ options: { only: { type: 'string' } } });
const isAskedFor = (name: string): boolean => values.only?.split(',').includes(name) ?? true;
const rows: (Row & { readonly mayBePutOff: number })[] = [];
for (const [relay, limits, emails] of LIMITS) {
  if (!isAskedFor(relay)) continue;
  for (const aSecond of A_SECOND) {
    await using sink = await startLimitedSmtp(limits);
    rows.push({ ...(await run(relay, { port: sink.port, sink }, emails, aSecond)), mayBePutOff: 0 });
  }
}
const lacking = missing();
for (const name of Object.keys(RELAYS) as (keyof typeof RELAYS)[]) {
  if (!isAskedFor(name)) continue;
  for (const aSecond of A_SECOND) {
    await using sink = await startLimitedSmtp({});
    const relay = lacking === null ? await startRelay(name, sink.port) : { reason: lacking };
    if ('reason' in relay) {
      console.log(`${name} was not run: ${relay.reason}.`);
      break;
    }
    await using open = relay;
    const row = await run(name, { ...open, sink }, REAL_EMAILS, aSecond);
    rows.push({ ...row, mayBePutOff: REAL_EMAILS / 100 });
  }
}
console.table(rows);
const isRight = rows.every(({ putOff, mayBePutOff, twice }) => putOff <= mayBePutOff && twice === 0);
console.log(isRight ? 'No more were put off than may be, and each arrived once.' : 'WRONG: see above.');
process.exit(isRight ? 0 : 1);
