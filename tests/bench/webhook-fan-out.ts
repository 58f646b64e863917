/**
 * The cost of the fan-out without endpoints, and with them: CPU time of this process and of its PostgreSQL
 * backends for each email's two events, with and without it, in turns within one run.
 *
 * `bun tests/bench/webhook-fan-out.ts [emails a round] [rounds]`
 */
import { readFileSync } from 'node:fs';
import { Engine } from '../../src/engine/engine.ts';
import { PostgresDatabase } from '../../src/platform/db/server/postgres.ts';
import { createLogger } from '../../src/platform/telemetry/logger.ts';
import { emails } from '../../src/sending/emails/kind.ts';
import { fanOut } from '../../src/sending/webhooks/deliveries/fan-out.ts';
import { accepted, emailSpawn, idle, opened, plainInput, WORKSPACE } from '../support/engine.ts';
import { createTestDatabase } from '../support/postgres.ts';

const EMAILS = Number(process.argv[2] ?? 4_000);
const ROUNDS = Number(process.argv[3] ?? 5);
const TICKS_PER_MS = 0.1;

await using made = await createTestDatabase();
const database = new PostgresDatabase(made.url);
const logger = createLogger({ level: 'silent', pretty: false });
const clock = { now: Date.now, monotonic: () => performance.now() };
const engineWith = (kinds: ReturnType<typeof emails>[]) => new Engine({ database, clock, logger, kinds });
const without = engineWith([emails(idle)]);
const withFanOut = engineWith([emails(idle, [fanOut]), { kind: fanOut.kind }]);

async function backendMs(): Promise<number> {
  const rows = await database.query<{ pid: number }>(
    'select pid from pg_stat_activity where datname = current_database()',
  );
  const ticks = rows.map(({ pid }) => {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
    return Number(fields[11]) + Number(fields[12]);
  });
  return ticks.reduce((a, b) => a + b, 0) / TICKS_PER_MS;
}

interface Cost {
  ours: number;
  backends: number;
}

async function round(engine: Engine): Promise<Cost> {
  const now = Date.now();
  const inserts = Array.from({ length: EMAILS }, () => emailSpawn(plainInput(now)));
  for (let from = 0; from < EMAILS; from += 500)
    await Promise.all(inserts.slice(from, from + 500).map((insert) => engine.spawn('email', insert)));
  const cpu = process.cpuUsage();
  const before = await backendMs();
  for (let from = 0; from < EMAILS; from += 50)
    await Promise.all(
      inserts
        .slice(from, from + 50)
        .flatMap(({ id }) => [
          engine.tell('email', id, accepted(now)),
          engine.tell('email', id, opened(now)),
        ]),
    );
  const { user, system } = process.cpuUsage(cpu);
  return { ours: (user + system) / 1_000, backends: (await backendMs()) - before };
}

async function compare(what: string): Promise<void> {
  const sums = { without: { ours: 0, backends: 0 }, with: { ours: 0, backends: 0 } };
  for (let n = 0; n <= ROUNDS; n += 1)
    for (const [name, engine] of [
      ['without', without],
      ['with', withFanOut],
    ] as const) {
      const cost = await round(engine);
      // The first round warms up.
      if (n === 0) continue;
      sums[name].ours += cost.ours;
      sums[name].backends += cost.backends;
    }
  const perEmail = ({ ours, backends }: Cost) => {
    const us = (ms: number) => ((ms * 1_000) / (EMAILS * ROUNDS)).toFixed(0).padStart(4);
    return `${us(ours)} µs here, ${us(backends)} µs in PostgreSQL`;
  };
  console.log(`${what}: without ${perEmail(sums.without)}; with ${perEmail(sums.with)}`);
}

await compare('No endpoints        ');
await database.query(
  `insert into workspaces (id, name, plan, created_at) values ($1, 'Bench', 'free', now())`,
  [WORKSPACE],
);
await database.query(
  `insert into webhook_endpoints (id, workspace_id, livemode, state, context, revision, machine_version, events)
   values ('wh_1', $1, false, 'active', '{}', 1, 1, '{sent,opened}')`,
  [WORKSPACE],
);
await compare('One endpoint, both  ');
await database.close();
