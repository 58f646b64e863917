/**
 * The cost of a turn's statement in PostgreSQL, with and without the parts for listeners to its events:
 * processor time of a backend that executes one batch over and over, and takes it back each time, in turns
 * within one run.
 *
 * `bun tests/bench/turn-statement.ts [emails a batch] [rounds]`
 */
import { readFileSync } from 'node:fs';
import postgres from 'postgres';
import { Engine } from '../../src/engine/engine.ts';
import type { Kind } from '../../src/engine/machine/kind.ts';
import { loadConfig } from '../../src/platform/config/config.ts';
import type { Database, Parameter } from '../../src/platform/db/database.ts';
import { PostgresDatabase } from '../../src/platform/db/server/postgres.ts';
import { ENGINE_SETTINGS } from '../../src/platform/db/wire/orm-over.ts';
import { createLogger } from '../../src/platform/telemetry/logger.ts';
import { openService } from '../../src/service.ts';
import { startCluster } from '../support/cluster.ts';
import { accepted, emailSpawn, idle, opened, plainInput } from '../support/engine.ts';
import { median } from './median.ts';

const EMAILS = Number(process.argv[2] ?? 250);
const ROUNDS = Number(process.argv[3] ?? 12);
const TIMES = Math.round(60_000 / EMAILS);
const MS_PER_TICK = 10;

await using stack = new AsyncDisposableStack();
const cluster = await startCluster();
stack.defer(() => cluster.stop());
const logger = createLogger({ level: 'silent', pretty: false });
const loaded = loadConfig({ HOST: '127.0.0.1', SECRET_KEY: 's'.repeat(32), DATABASE_URL: cluster.url });
if ('problems' in loaded) throw new Error(loaded.problems.join('\n'));
const service = await openService({ config: loaded.config, logger });
const kinds = service.engine.kinds;
await service.stop();
const database = await PostgresDatabase.open(cluster.url);
stack.defer(() => database.close());

/** A kind whose readers name no topics, so that each commit unfolds the events. */
const unfolding = (kind: Kind): Kind => ({
  ...kind,
  children: kind.children.map(({ listens: _, ...child }) => child),
  followers: (kind.followers ?? []).map(({ listens: _, ...follower }) => follower),
});

interface Statement {
  readonly sql: string;
  readonly parameters: readonly Parameter[];
}

/** The statement by which an engine commits one turn of a batch of emails. */
async function turnOf(email: Kind): Promise<Statement> {
  const written: Statement[] = [];
  const watched = new Proxy(database, {
    get(target, name) {
      if (name !== 'query') {
        const value: unknown = Reflect.get(target, name, target);
        return typeof value === 'function' ? value.bind(target) : value;
      }
      return ((sql, parameters = [], options) => {
        if (options?.name === 'commit') written.push({ sql, parameters });
        return target.query(sql, parameters, options);
      }) satisfies Database['query'];
    },
  });
  const clock = { now: Date.now, monotonic: () => performance.now() };
  const others = kinds.filter(({ name }) => name === 'webhookDelivery').map((kind) => ({ kind }));
  const engine = new Engine({
    database: watched,
    clock,
    logger,
    kinds: [{ kind: email, performer: idle }, ...others],
  });
  const now = Date.now();
  const inserts = Array.from({ length: EMAILS }, () => emailSpawn(plainInput(now)));
  await Promise.all(inserts.map((insert) => engine.spawn('email', insert)));
  await Promise.all(
    inserts.flatMap(({ id }) => [
      engine.tell('email', id, accepted(now)),
      engine.tell('email', id, opened(now)),
    ]),
  );
  const size = ({ parameters }: Statement) => String(parameters[5]).length;
  const largest = written.toSorted((a, b) => size(b) - size(a))[0];
  if (!largest) throw new Error('Nothing was committed.');
  return largest;
}

const email = kinds.find(({ name }) => name === 'email');
if (!email) throw new Error('There is no kind of emails.');
const contenders = { 'with listeners': await turnOf(unfolding(email)), without: await turnOf(email) };
// Taken back, they find their places free each time: these are the turns that were committed before.
await database.query('delete from email_turns');

const sql = postgres(cluster.url, {
  max: 1,
  onnotice: () => {},
  connection: ENGINE_SETTINGS as never,
});
stack.defer(() => sql.end());
const [backend] = await sql<{ pid: number }[]>`select pg_backend_pid() as pid`;
const busyMs = (): number => {
  const fields = readFileSync(`/proc/${backend?.pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) * MS_PER_TICK;
};

async function turn({ sql: text, parameters }: Statement): Promise<number> {
  const before = busyMs();
  for (let n = 0; n < TIMES; n++) {
    await sql.unsafe('begin');
    await sql.unsafe(text, parameters as never[], { prepare: true });
    await sql.unsafe('rollback');
  }
  return ((busyMs() - before) * 1_000) / (TIMES * EMAILS);
}

const taken = new Map<string, number[]>();
for (let round = -1; round < ROUNDS; round++)
  for (const [name, statement] of Object.entries(contenders)) {
    const each = await turn(statement);
    if (round >= 0) taken.set(name, [...(taken.get(name) ?? []), each]);
  }
for (const [name, each] of taken)
  console.log(
    `${name}: ${median(each).toFixed(1)} µs a turn (${Math.min(...each).toFixed(1)} to ${Math.max(...each).toFixed(1)}), batches of ${EMAILS}`,
  );
