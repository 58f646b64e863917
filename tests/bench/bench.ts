import { cpus, totalmem } from 'node:os';
import postgres from 'postgres';
import { startCluster } from '../support/cluster.ts';
import { startService, TEST_KEY } from '../support/service.ts';
import { load, preparePost } from './load.ts';
import { pgbench } from './pgbench.ts';
import { printTable, type Row } from './table.ts';

// What an email costs, against the plainest thing PostgreSQL can do with the same bytes, in one run on one server:
//   bun run bench [--seconds N] [--emails N] [--executable path]

const option = (name: string, fallback: string): string => {
  const at = process.argv.indexOf(`--${name}`);
  return at === -1 ? fallback : (process.argv[at + 1] ?? fallback);
};
const SECONDS = Number(option('seconds', '10'));
const EMAILS = Number(option('emails', '40000'));
const EXECUTABLE = option('executable', '');

const EMAIL = {
  from: 'Acme <hello@acme.example>',
  to: 'ada@example.com',
  subject: 'Your order is on its way',
  text: 'x'.repeat(1_000),
  html: `<p>${'y'.repeat(1_000)}</p>`,
};
const ROW_BYTES = JSON.stringify(EMAIL).length;
const IN_A_WEEK = new Date(Date.now() + 7 * 86_400_000).toISOString();

const say = (text: string): void => void process.stderr.write(`${text}\n`);

await using stack = new AsyncDisposableStack();
say('Starting PostgreSQL …');
const cluster = await startCluster();
stack.defer(() => cluster.stop());

async function fresh(name: string): Promise<string> {
  const sql = postgres(cluster.url, { max: 1, onnotice: () => {} });
  await sql.unsafe(`drop database if exists ${name} with (force)`);
  await sql.unsafe(`create database ${name}`);
  await sql.end();
  const url = new URL(cluster.url);
  url.pathname = `/${name}`;
  return url.href;
}

const rows: Row[] = [];

say(`pgbench, ${SECONDS} s …`);
const yardstick = await pgbench(await fresh('bench_yardstick'), ROW_BYTES, SECONDS);
if (yardstick) {
  rows.push({
    what: '(a) pgbench, single-row INSERT, 64 clients',
    perSecond: yardstick.perSecond,
    p50: yardstick.latencyMs,
  });
} else say('pgbench is not installed (Debian: postgresql-contrib), so there are no ratios.');

const url = await fresh('bench_service');
const service = await startService({
  env: {
    DATABASE_URL: url,
    TEST_SENDS_PER_DAY: '0',
    RATE_LIMIT_PER_IP: '0',
    RATE_LIMIT_PER_KEY: '0',
    LOG_LEVEL: 'warn',
  },
  ...(EXECUTABLE ? { command: [EXECUTABLE] } : {}),
});
stack.use(service);
const sql = postgres(url, { max: 1 });
stack.defer(() => sql.end());

const delivered = async (): Promise<number> =>
  (await sql<{ n: number }[]>`select count(*)::int as n from emails where state = 'delivered'`)[0]?.n ?? 0;

const accept = preparePost(service.port, '/v1/emails', TEST_KEY, { ...EMAIL, scheduledAt: IN_A_WEEK });
const send = preparePost(service.port, '/v1/emails', TEST_KEY, EMAIL);

say('Warming up …');
await load(send, 16, 2_000);
while ((await delivered()) < 2_000);

for (const connections of [64, 256]) {
  say(`Accepting ${EMAILS} scheduled emails over ${connections} connections …`);
  const result = await load(accept, connections, EMAILS);
  rows.push({ what: `(b) accepted over HTTP, ${connections} connections`, ...result });
  if (result.statuses['202'] !== EMAILS)
    throw new Error(`Not all were accepted: ${JSON.stringify(result.statuses)}`);
}
for (const connections of [64, 256]) {
  say(`${EMAILS} whole lives over ${connections} connections …`);
  const before = await delivered();
  const start = performance.now();
  const result = await load(send, connections, EMAILS);
  while ((await delivered()) < before + EMAILS);
  const seconds = (performance.now() - start) / 1_000;
  rows.push({ what: `(c) whole lives, ${connections} connections`, ...result, perSecond: EMAILS / seconds });
}

const [cpu] = cpus();
console.log(
  printTable(rows, yardstick?.perSecond ?? null, [
    `${cpus().length} cores (${cpu?.model.trim()}), ${Math.round(totalmem() / 2 ** 30)} GiB; PostgreSQL 18, Bun ${Bun.version},`,
    `the load client and the service share the machine; ${new Date().toISOString().slice(0, 10)};`,
    `\`bun run bench ${process.argv.slice(2).join(' ')}\`; ${EXECUTABLE ? 'the executable' : 'from source'}.`,
  ]),
);
