import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import postgres from 'postgres';
import { freePort } from '../../src/ops/torture/free-port.ts';
import { packaged } from '../../src/ops/torture/postgres-programs.ts';
import { PostgresServer } from '../../src/ops/torture/postgres-server.ts';
import { openDatabase } from '../../src/platform/db/open.ts';
import { analyticsRollUp } from '../../src/sending/analytics/roll-up.ts';
import { createClient } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { LIVE_KEY, type Service, startService, TEST_KEY } from '../support/service.ts';
import { allAccepted, EMAIL, IN_A_WEEK } from './accepted.ts';
import { meterCpu } from './cpu.ts';
import { preparePost } from './load.ts';
import { median } from './median.ts';
import { fill, liveThrough } from './reads-fill.ts';

// The cost of lists and analytics for the acceptance of emails at the same time: one instance accepts,
// another reads, from a standby that follows the server (`replica`) or from the server itself (`leader`).
// Rounds with readers lie between rounds without, since the noise of a machine is larger than what is looked
// for. On one machine the standby takes its share of the cores, the replay of what is accepted included.
// `--apart 0:1` binds what accepts (the instance, the server, this command) to the first core and what reads
// (the readers, their instances, the standby) to the second, as two machines would be; they then share the
// disk and the way to the memory. A list such as 0-3 may stand for each. With `--most 5` it fails where
// accepting beside reads from the replica falls by 5 % or more.
//   bun tests/bench/replica-reads.ts [--emails 300000] [--accepted 20000] [--rounds 3] [--readers 4] [--ways replica,leader] [--apart 0:1]

const { values } = parseArgs({
  options: {
    emails: { type: 'string', default: '300000' },
    accepted: { type: 'string', default: '20000' },
    rounds: { type: 'string', default: '3' },
    readers: { type: 'string', default: '4' },
    ways: { type: 'string', default: 'replica,leader' },
    most: { type: 'string' },
    within: { type: 'string' },
    apart: { type: 'string' },
  },
});
const [emails, accepted, rounds] = [values.emails, values.accepted, values.rounds].map(Number) as [
  number,
  number,
  number,
];

type Way = 'replica' | 'leader';
const isWay = (name: string): name is Way => name === 'replica' || name === 'leader';
const ways = values.ways.split(',').filter(isWay);
const [accepts = '', reads = ''] = values.apart?.split(':') ?? [];

/** No checkpoint by the clock falls into a round. */
const SETTINGS = { max_wal_size: '4GB', checkpoint_timeout: '1h' };
const leader = await PostgresServer.start({
  programs: packaged(),
  port: await freePort(),
  settings: SETTINGS,
  ...(values.within && { within: values.within }),
});
await using stack = new AsyncDisposableStack();
stack.defer(() => leader.remove());
const url = leader.url('postgres');
const start = (env: Record<string, string> = {}): Promise<Service> =>
  startService({
    env: {
      DATABASE_URL: url,
      SECRET_KEY: 'a bench has no secrets, but needs a key',
      TEST_SENDS_PER_DAY: '0',
      RATE_LIMIT_PER_IP: '0',
      RATE_LIMIT_PER_KEY: '0',
      LOG_LEVEL: 'warn',
      ...env,
    },
  });

/**
 * Binds a process with its threads, and its children, to processors; those that it starts afterwards are
 * bound as well.
 */
function bind(pid: number, processors: string): void {
  if (!processors) return;
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean);
  for (const each of [String(pid), ...children]) spawnSync('taskset', ['-acp', processors, each]);
}

/** The process that the backends of a server come from. */
const processOf = ({ data }: PostgresServer): number =>
  Number(readFileSync(`${data}/postmaster.pid`, 'utf8').split('\n')[0]);

const metricsOf = async (port: string): Promise<string> =>
  await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();

async function answeredBy(port: string): Promise<string> {
  const counts = (await metricsOf(port)).matchAll(
    /^posthorn_replica_reads_total\{answered="([^"]+)"\} (\d+)/gm,
  );
  return [...counts].map(([, answered, count]) => `${answered} ${count}`).join(', ');
}

/** The time for which the last read waited for the replica to catch up, in milliseconds. */
const lastWait = async (port: string): Promise<number> =>
  Number(/^posthorn_replica_wait_seconds\{.*\} (.+)$/m.exec(await metricsOf(port))?.[1] ?? 0) * 1_000;

/** Starts reading; the answer stops it, and tells how much was read. */
async function readOn(service: Service): Promise<() => Promise<{ reads: number; bad: number }>> {
  const script = new URL('readers.ts', import.meta.url).pathname;
  const child = Bun.spawn([process.execPath, script, String(service.port), values.readers], {
    stdin: 'pipe',
    stdout: 'pipe',
  });
  bind(child.pid, reads);
  const output = child.stdout.getReader();
  // It says that it reads.
  await output.read();
  return async () => {
    await child.stdin.end();
    const { value } = await output.read();
    await child.exited;
    return JSON.parse(new TextDecoder().decode(value)) as { reads: number; bad: number };
  };
}

/**
 * Fills the server before anything follows it, and adds up what happened, as the service would within
 * minutes.
 */
async function prepare(): Promise<void> {
  await using service = await start();
  const sql = postgres(url, { max: 1 });
  const [workspace] = await sql<{ id: string }[]>`select id from workspaces`;
  await liveThrough(service.url, sql);
  await service.stop();
  console.log(`Writing ${emails.toLocaleString('en')} emails …`);
  await fill({ url, emails, days: 30, workspaceId: workspace?.id ?? '' }, console.log);
  console.log('  adding up …');
  const database = await openDatabase({ url, dataDir: null });
  await analyticsRollUp({ database }).run();
  await database.close();
  const [size] = await sql<{ gb: number }[]>`select pg_database_size('postgres') / 1e9 as gb`;
  console.log(`  ${Number(size?.gb).toFixed(1)} GB; copying them to a standby …`);
  await sql.end();
}

const begun = performance.now();
await prepare();
await leader.shutDown();
const standby = leader.standby(await freePort());
stack.defer(() => standby.remove());
await leader.up();
await standby.up();
await using accepting = await start();
const metrics = { replica: String(await freePort()), leader: String(await freePort()) };
await using replicaReads = await start({
  DATABASE_READ_URL: standby.url('postgres'),
  METRICS_PORT: metrics.replica,
  ROLES: 'http',
});
await using leaderReads = await start({ METRICS_PORT: metrics.leader, ROLES: 'http' });
await eventually('a replica that is read from', async () => {
  await createClient(replicaReads.url, LIVE_KEY).get('/v1/emails?limit=1');
  return (await answeredBy(metrics.replica)).includes('replica') ? true : undefined;
});
const server = processOf(leader);
for (const pid of [process.pid, accepting.pid, server]) bind(pid, accepts);
for (const pid of [replicaReads.pid, leaderReads.pid, processOf(standby)]) bind(pid, reads);
console.log(`  ready after ${((performance.now() - begun) / 1_000).toFixed(0)} s`);

/** The result of a round: emails a second, and processor time an email of all that accepts. */
interface Round {
  readonly perSecond: number;
  readonly cpu: number;
}

const request = preparePost(accepting.port, '/v1/emails', TEST_KEY, { ...EMAIL, scheduledAt: IN_A_WEEK });
async function round(way: Way | null): Promise<Round> {
  const stop = way && (await readOn(way === 'replica' ? replicaReads : leaderReads));
  const [spent, own, from] = [meterCpu([accepting.pid], server), process.cpuUsage(), performance.now()];
  const { perSecond, p50, p99 } = await allAccepted(request, 64, accepted);
  const seconds = (performance.now() - from) / 1_000;
  const { user, system } = process.cpuUsage(own);
  const { service, postgres } = spent(accepted);
  const client = (user + system) / accepted;
  const waited = way === 'replica' ? `, waited ${(await lastWait(metrics.replica)).toFixed(1)} ms` : '';
  const read = await stop?.();
  const told = read
    ? `, ${(read.reads / seconds).toFixed(0)} reads/s, ${read.bad} not answered${waited}`
    : '';
  console.log(
    `${way ?? 'nobody'}: ${perSecond.toFixed(0)} accepted/s, p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms, µs an email: instance ${service.toFixed(0)}, server ${postgres.toFixed(0)}, client ${client.toFixed(0)}${told}`,
  );
  return { perSecond, cpu: service + postgres + client };
}

await allAccepted(request, 64, accepted);
const ratios: Record<Way, Round[]> = { replica: [], leader: [] };
let before = await round(null);
const alone = [before];
for (let n = 0; n < rounds; n++)
  for (const way of n % 2 === 0 ? ways : ways.toReversed()) {
    const beside = await round(way);
    const after = await round(null);
    // A drift, such as tables that grow, affects both sides of it alike.
    ratios[way].push({
      perSecond: (2 * beside.perSecond) / (before.perSecond + after.perSecond),
      cpu: (2 * beside.cpu) / (before.cpu + after.cpu),
    });
    before = after;
    alone.push(after);
  }
const noise = alone.slice(1).map(({ perSecond }, n) => perSecond / (alone[n]?.perSecond ?? perSecond));
const list = (of: readonly number[]): string =>
  of
    .toSorted((a, b) => a - b)
    .map((ratio) => ratio.toFixed(3))
    .join(' ');
console.log(`Reads of the instance with a replica: ${await answeredBy(metrics.replica)}`);
console.log(`One round with nobody reading to the one before: ${list(noise)}`);
for (const way of ways) {
  const rates = ratios[way].map(({ perSecond }) => perSecond);
  const cost = median(ratios[way].map(({ cpu }) => cpu));
  console.log(
    `Beside reads from the ${way}: ${median(rates).toFixed(3)} of the rate with nobody reading just before and after (${list(rates)}), ${cost.toFixed(3)} of its processor time an email`,
  );
}
const fallen = 1 - median(ratios.replica.map(({ perSecond }) => perSecond));
if (values.most && fallen * 100 >= Number(values.most)) {
  console.log(`Accepting fell by ${(fallen * 100).toFixed(1)} %.`);
  process.exitCode = 1;
}
