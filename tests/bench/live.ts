import postgres from 'postgres';
import { generateDkimKey } from '../../src/transport/dkim/key-pair.ts';
import { createClient } from '../support/client.ts';
import { startCluster } from '../support/cluster.ts';
import { LIVE_KEY, type Service, startService } from '../support/service.ts';
import { bareSender } from './bare-sender.ts';
import { load, preparePost } from './load.ts';

// Live email, from its acceptance over HTTP to its acceptance by a local sink, signed RSA-2048 and Ed25519, every step durable;
// as a ratio to bare pooled nodemailer that signs RSA-2048 itself and keeps nothing, to the same sink in the same run:
//   bun tests/bench/live.ts [emails] [http connections] [executable]

const EMAILS = Number(process.argv[2] ?? 5_000);
const CONNECTIONS = Number(process.argv[3] ?? 64);
const EXECUTABLE = process.argv[4];
const SESSIONS = 10;
const ROUNDS = 3;

const say = (text: string): void => void process.stderr.write(`${text}\n`);

await using stack = new AsyncDisposableStack();
const cluster = await startCluster();
stack.defer(() => cluster.stop());
const sql = postgres(cluster.url, { max: 1, onnotice: () => {} });
stack.defer(() => sql.end());

const sink = Bun.spawn([process.execPath, new URL('transport-sink.ts', import.meta.url).pathname], {
  stdout: 'pipe',
});
stack.defer(() => void sink.kill());
const { value } = await sink.stdout.getReader().read();
const port = Number(new TextDecoder().decode(value));

const start = (transport: string): Promise<Service> =>
  startService({
    ...(EXECUTABLE === undefined ? {} : { command: [EXECUTABLE] }),
    env: {
      DATABASE_URL: cluster.url,
      SECRET_KEY: 'only-for-this-bench-only-for-this-bench',
      TRANSPORT: transport,
      SMTP_URL: `smtp://127.0.0.1:${port}?tls=none`,
      EHLO_NAME: 'bench.example',
      DEFAULT_PLAN: 'growth',
      RATE_LIMIT_PER_IP: '0',
      RATE_LIMIT_PER_KEY: '0',
      LOG_LEVEL: 'warn',
    },
  });

// A reserved name verifies while mail is captured, and stays verified.
const first = await start('capture');
const added = await createClient(first.url, LIVE_KEY).post('/v1/domains', { name: 'sender.example' });
if (added.body.data?.status !== 'verified') throw new Error(JSON.stringify(added.body));
await first.stop();
const service = stack.use(await start('smtp'));

const EMAIL = {
  from: 'Shop <shop@sender.example>',
  to: 'r@receiver.example',
  subject: 'Your order is on its way',
  text: 'Thank you for your order, it is on its way to you.\n'.repeat(30),
  html: `<html><body>${'<p>Thank you for your order, it is on its way to you.</p>\n'.repeat(50)}</body></html>`,
};
const request = preparePost(service.port, '/v1/emails', LIVE_KEY, EMAIL);

const sent = async (): Promise<number> =>
  (await sql<{ n: number }[]>`select count(*)::int as n from emails where state = 'sent'`)[0]?.n ?? 0;

async function live(emails: number): Promise<number> {
  const before = await sent();
  const begin = performance.now();
  const { statuses } = await load(request, CONNECTIONS, emails);
  if (statuses['202'] !== emails) throw new Error(`Not all were accepted: ${JSON.stringify(statuses)}`);
  while ((await sent()) < before + emails) await Bun.sleep(10);
  return (emails * 1_000) / (performance.now() - begin);
}

const rsa = await generateDkimKey('rsa-sha256');
const bare = bareSender({ port, sessions: SESSIONS, privateKey: rsa.privateKey });
stack.defer(() => bare.close());

async function nodemailer(emails: number): Promise<number> {
  let next = 0;
  const begin = performance.now();
  const worker = async (): Promise<void> => {
    while (next < emails) await bare.send(next++, EMAIL);
  };
  await Promise.all(Array.from({ length: SESSIONS * 2 }, worker));
  return (emails * 1_000) / (performance.now() - begin);
}

say('Warming up …');
await live(500);
await nodemailer(500);
const rates = { live: [] as number[], bare: [] as number[] };
for (let round = 1; round <= ROUNDS; round++) {
  rates.bare.push(await nodemailer(EMAILS));
  rates.live.push(await live(EMAILS));
  say(
    `Round ${round}: nodemailer ${Math.round(rates.bare.at(-1) ?? 0)}/s, live ${Math.round(rates.live.at(-1) ?? 0)}/s`,
  );
}
const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;
const [ours, theirs] = [median(rates.live), median(rates.bare)];
console.log(
  [
    `${EMAILS} emails of 5 KB, ${CONNECTIONS} HTTP connections, ${SESSIONS} SMTP sessions, median of ${ROUNDS} rounds`,
    `nodemailer, pooled, RSA-2048, nothing kept       ${Math.round(theirs)}/s  1.00`,
    `live emails, both signatures, all durable        ${Math.round(ours)}/s  ${(ours / theirs).toFixed(2)}`,
  ].join('\n'),
);
