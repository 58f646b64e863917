// Sends at two speeds through a relay with each of the limits that servers have by default, and counts how often an email was put off:
//   POSTHORN_EXECUTABLE=dist/posthorn bun tests/failure/relay-limits-long.ts
// After 100 mails in a session OpenSMTPD answers 452 4.5.3 to each further MAIL, and the session stays open. Beyond five connections Courier
// and Exim greet with 421. Neither may put an email off, and each email arrives once.
import { createClient } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { type ServerLimits, startLimitedSmtp } from '../support/limited-smtp.ts';
import { createTestDatabase } from '../support/postgres.ts';
import { LIVE_KEY, startService } from '../support/service.ts';

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
          ...{ at: 'connect', how: 'greeting' },
          reply: '421 Too many concurrent SMTP connections; please try again later.',
        },
      },
    },
    200,
  ],
];
const A_SECOND = [2, 50] as const;

interface Row {
  readonly relay: string;
  readonly aSecond: number;
  readonly emails: number;
  readonly putOff: number;
  readonly arrived: number;
  readonly twice: number;
  readonly refused: number;
}

async function run(relay: string, limits: ServerLimits, emails: number, aSecond: number): Promise<Row> {
  await using sink = await startLimitedSmtp(limits);
  await using database = await createTestDatabase();
  const env = {
    DATABASE_URL: database.url,
    SECRET_KEY: 'only-for-tests-only-for-tests-only',
    SMTP_URL: `smtp://127.0.0.1:${sink.port}?tls=none`,
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
  await eventually('all have arrived', () => new Set(sink.taken).size === emails || undefined);
  let putOff = 0;
  for (const id of ids) {
    const { evidence } = (await client.get(`/v1/emails/${id}/explain`)).body.data;
    if (evidence.some(({ text }: { text: string }) => text.includes('put off'))) putOff += 1;
  }
  const arrived = new Set(sink.taken).size;
  const { refused } = sink;
  return { relay, aSecond, emails, putOff, arrived, twice: sink.taken.length - arrived, refused };
}

const rows: Row[] = [];
for (const [relay, limits, emails] of LIMITS)
  for (const aSecond of A_SECOND) rows.push(await run(relay, limits, emails, aSecond));
console.table(rows);
const isRight = rows.every(({ putOff, twice }) => putOff === 0 && twice === 0);
console.log(isRight ? 'None was put off, and each arrived once.' : 'WRONG: see above.');
process.exit(isRight ? 0 : 1);
