// Replaces two of four instances, one after the other, while live mail is accepted and delivered:
//   bun tests/failure/rolling-long.ts [--split] [--clients 4]
// --split: two instances of the role http, two of engine and delivery; one of each is replaced.
import { LIVE_SCHEDULE } from '../../src/sending/emails/accept/attempt-schedule.ts';
import { startSink } from '../integration/transport/smtp-sink.ts';
import { createClient } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { createTestDatabase } from '../support/postgres.ts';
import { LIVE_KEY, startService } from '../support/service.ts';
import { roll, sending } from './rolling.ts';

const isSplit = process.argv.includes('--split');
const clients = Number(process.argv[process.argv.indexOf('--clients') + 1] ?? 4) || 4;

const arrivedAt = new Map<string, number>();
await using sink = await startSink({
  onData(stream, _session, done) {
    const chunks: Buffer[] = [];
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    stream.on('end', () => {
      const id = /^Message-ID: <(em_\w+)@/m.exec(Buffer.concat(chunks).toString())?.[1] ?? '';
      copies.set(id, (copies.get(id) ?? 0) + 1);
      if (!arrivedAt.has(id)) arrivedAt.set(id, performance.now());
      done();
    });
  },
});
const copies = new Map<string, number>();
const acceptedAt = new Map<string, number>();
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
const workers = 'engine,delivery';
const statuses = await roll({
  env: { ...env, TRANSPORT: 'smtp' },
  instances: isSplit ? ['http', 'http', workers, workers] : [null, null, null, null],
  replaced: isSplit ? [0, 2] : [0, 1],
  clients,
  request: sending(
    LIVE_KEY,
    { from: 'shop@sender.example', to: 'r@example.com', subject: 'Order', text: 'It is on its way.' },
    (id) => void acceptedAt.set(id, performance.now()),
  ),
  settled: async () => {
    await eventually(
      'every email has arrived',
      async () => [...acceptedAt.keys()].every((id) => arrivedAt.has(id)) || undefined,
    );
  },
});
// An email that arrived before its 202 was read has waited for nothing.
const waits = [...acceptedAt]
  .map(([id, at]) => Math.max(0, (arrivedAt.get(id) as number) - at))
  .sort((a, b) => a - b);
const at = (share: number): number => Math.round(waits[Math.floor((waits.length - 1) * share)] ?? 0);
const twice = [...copies.values()].filter((count) => count > 1).length;
console.log(
  JSON.stringify({
    isSplit,
    clients,
    accepted: acceptedAt.size,
    statuses: Object.fromEntries(statuses),
    twice,
    waitedMs: { p50: at(0.5), p99: at(0.99), longest: at(1) },
    leaseMs: LIVE_SCHEDULE.leaseMs,
  }),
);
const isRight = [...statuses.keys()].join() === '202' && twice === 0 && at(1) < LIVE_SCHEDULE.leaseMs;
console.log(isRight ? 'No request failed, and no email waited for its lease.' : 'WRONG: see above.');
process.exit(isRight ? 0 : 1);
