// Measures the time from a 202 to the receiving server where one instance accepts and another one delivers,
// and what looking for such emails costs the database while there are none:
//   bun tests/bench/handed-over.ts [emails]
import postgres from 'postgres';
import { startSink } from '../integration/transport/smtp-sink.ts';
import { createClient } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { createTestDatabase } from '../support/postgres.ts';
import { LIVE_KEY, type Service, startService } from '../support/service.ts';

const EMAILS = Number(process.argv[2] ?? 200);
/** So long the idle instances are watched. */
const IDLE_MS = 20_000;
/** The gaps between emails differ, so that no clock of the instances is met at the same place. */
const gapMs = (n: number): number => 40 + ((n * 37) % 200);

const arrivedAt = new Map<string, number>();
await using sink = await startSink({
  onData(stream, _session, done) {
    const chunks: Buffer[] = [];
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    stream.on('end', () => {
      const id = /^Message-ID: <(em_\w+)@/m.exec(Buffer.concat(chunks).toString())?.[1];
      if (id) arrivedAt.set(id, performance.now());
      done();
    });
  },
});

async function measure(roles: readonly (string | null)[]): Promise<void> {
  await using database = await createTestDatabase();
  const sql = postgres(database.url, { max: 1 });
  const start = (transport: string, only: string | null): Promise<Service> =>
    startService({
      args: only === null ? [] : ['--only', only],
      env: {
        DATABASE_URL: database.url,
        SECRET_KEY: 'only-for-tests-only-for-tests-only',
        LOG_LEVEL: 'warn',
        TRANSPORT: transport,
        SMTP_URL: `smtp://127.0.0.1:${sink.port}?tls=none`,
        RATE_LIMIT_PER_IP: '0',
        RATE_LIMIT_PER_KEY: '0',
      },
    });
  {
    await using first = await start('capture', null);
    await createClient(first.url, LIVE_KEY).post('/v1/domains', { name: 'sender.example' });
    await first.stop();
  }
  const services: Service[] = [];
  for (const only of roles) services.push(await start('smtp', only));
  const front = createClient(services[0]?.url ?? '', LIVE_KEY);
  const acceptedAt = new Map<string, number>();
  const send = async (): Promise<void> => {
    const { status, body } = await front.post('/v1/emails', {
      from: 'shop@sender.example',
      to: 'r@example.com',
      subject: 'Order',
      text: 'It is on its way.',
    });
    if (status !== 202) throw new Error(`${status}`);
    acceptedAt.set(body.data.id, performance.now());
  };
  const allHaveArrived = () =>
    eventually(
      'all have arrived',
      async () => [...acceptedAt.keys()].every((id) => arrivedAt.has(id)) || undefined,
    );
  // Until every instance has heard of every other one.
  await Bun.sleep(11_000);
  const counted = async (): Promise<{ commits: number; busyMs: number }> => {
    const [row] = await sql`select xact_commit::float8 as commits, active_time as "busyMs"
      from pg_stat_database where datname = current_database()`;
    return row as unknown as { commits: number; busyMs: number };
  };
  const before = await counted();
  await Bun.sleep(IDLE_MS);
  const after = await counted();
  for (let n = 0; n < EMAILS; n++) {
    await send();
    await Bun.sleep(gapMs(n));
  }
  await allHaveArrived();
  const waits = [...acceptedAt].map(([id, at]) => Math.max(0, (arrivedAt.get(id) as number) - at));
  waits.sort((a, b) => a - b);
  const at = (share: number): number => Math.round(waits[Math.floor((waits.length - 1) * share)] ?? 0);
  const perSecond = (from: number, to: number): number => Math.round(((to - from) / IDLE_MS) * 10_000) / 10;
  console.log(
    JSON.stringify({
      roles,
      emails: EMAILS,
      fromAcceptedToArrivedMs: { p50: at(0.5), p99: at(0.99), longest: at(1) },
      idle: {
        statementsPerSecond: perSecond(before.commits, after.commits),
        busyMsPerSecond: perSecond(before.busyMs, after.busyMs),
      },
    }),
  );
  for (const service of services) await service[Symbol.asyncDispose]();
  await sql.end();
}

await measure([null]);
await measure([null, null, null]);
await measure(['http', 'engine', 'delivery']);
process.exit(0);
