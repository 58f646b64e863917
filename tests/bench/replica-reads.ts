import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import postgres from 'postgres';
import { createClient } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { type LeaderAndStandby, startLeaderAndStandby } from '../support/leader-and-standby.ts';
import { LIVE_KEY, type Service, startService, TEST_KEY } from '../support/service.ts';
import { allAccepted, EMAIL, IN_A_WEEK } from './accepted.ts';
import { meterCpu } from './cpu.ts';
import { type LoadResult, load, prepareGet, preparePost } from './load.ts';
import { fill, liveThrough } from './reads-fill.ts';

// What lists and analytics cost whoever accepts emails at the same time: one instance accepts, another reads, from a standby that follows
// the server (`replica`) or from the server itself (`leader`). Rounds alternate, since the noise of a machine is larger than what is
// looked for. On one machine the standby takes its share of the cores, the replay of what is accepted included.
// `--apart 2:3` binds what accepts (the instance, the server, this command) to the first core and what reads (the other instances, the
// standby) to the second, as two machines would be; a list such as 0-3 may stand for each.
//   bun tests/bench/replica-reads.ts [--emails 300000] [--accepted 20000] [--rounds 3] [--readers 4] [--apart 2:3]

const { values } = parseArgs({
  options: {
    emails: { type: 'string', default: '300000' },
    accepted: { type: 'string', default: '20000' },
    rounds: { type: 'string', default: '3' },
    readers: { type: 'string', default: '4' },
    apart: { type: 'string' },
  },
});
const [emails, accepted, rounds, readers] = [
  values.emails,
  values.accepted,
  values.rounds,
  values.readers,
].map(Number) as [number, number, number, number];

const WAYS = ['nobody', 'replica', 'leader'] as const;
type Way = (typeof WAYS)[number];

const servers = await startLeaderAndStandby();
const url = servers.leader.url('postgres');
const METRICS = { replica: '19464', leader: '19465' } as const;
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

/** Reads on and on until it is told to stop; answers how many reads there were, and what was not answered with 200. */
async function readOn(service: Service, stopped: () => boolean): Promise<{ reads: number; bad: number }> {
  const paths = ['/v1/emails?limit=50', '/v1/emails?limit=50&subject=nothing', '/v1/analytics?interval=day'];
  let [reads, bad] = [0, 0];
  const one = async (path: string): Promise<void> => {
    const request = prepareGet(service.port, path, LIVE_KEY);
    while (!stopped()) {
      const { requests, statuses } = await load(request, 1, 10);
      reads += requests;
      bad += requests - (statuses[200] ?? 0);
    }
  };
  await Promise.all(Array.from({ length: readers }, (_, n) => one(paths[n % paths.length] as string)));
  return { reads, bad };
}

/** Binds a process with its threads, and its children, to processors; those that it starts afterwards are bound as well. */
function bind(pid: number, processors: string): void {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean);
  for (const each of [String(pid), ...children]) spawnSync('taskset', ['-acp', processors, each]);
}

/** The process that the backends of a server come from. */
const processOf = ({ data }: LeaderAndStandby['leader']): number =>
  Number(readFileSync(`${data}/postmaster.pid`, 'utf8').split('\n')[0]);

async function answeredBy(port: string): Promise<string> {
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  return [...text.matchAll(/^posthorn_replica_reads_total\{answered="([^"]+)"\} (\d+)/gm)]
    .map(([, answered, count]) => `${answered} ${count}`)
    .join(', ');
}

/** How long the last read waited for the replica to catch up, in milliseconds. */
async function lastWait(port: string): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  return Number(/^posthorn_replica_wait_seconds\{.*\} (.+)$/m.exec(text)?.[1] ?? 0) * 1_000;
}

const middle = (of: readonly number[]): number => of.toSorted((a, b) => a - b)[of.length >> 1] ?? 0;

try {
  await using accepting = await start();
  const sql = postgres(url, { max: 1 });
  const [workspace] = await sql<{ id: string }[]>`select id from workspaces`;
  await liveThrough(accepting.url, sql);
  console.log(`Writing ${emails.toLocaleString('en')} emails …`);
  await fill({ url, emails, days: 30, workspaceId: workspace?.id ?? '' }, console.log);
  const [{ lsn } = { lsn: '' }] = await sql<
    { lsn: string }[]
  >`select pg_current_wal_flush_lsn()::text as lsn`;
  const follower = postgres(servers.standby.url('postgres'), { max: 1 });
  await eventually(
    'a standby that has all of it',
    async () => {
      const [row] = await follower`select pg_last_wal_replay_lsn() >= ${lsn}::pg_lsn as has`;
      return row?.has ? true : undefined;
    },
    { withinMs: 3_600_000 },
  );
  await Promise.all([follower.end(), sql.end()]);
  await using replica = await start({
    DATABASE_READ_URL: servers.standby.url('postgres'),
    METRICS_PORT: METRICS.replica,
    ROLES: 'http',
  });
  await using leader = await start({ METRICS_PORT: METRICS.leader, ROLES: 'http' });
  await eventually('a replica that is read from', async () => {
    await createClient(replica.url, LIVE_KEY).get('/v1/emails?limit=1');
    return (await answeredBy(METRICS.replica)).includes('replica') ? true : undefined;
  });
  const request = preparePost(accepting.port, '/v1/emails', TEST_KEY, { ...EMAIL, scheduledAt: IN_A_WEEK });
  const server = processOf(servers.leader);
  if (values.apart) {
    const [accepts = '', reads = ''] = values.apart.split(':');
    for (const pid of [process.pid, accepting.pid, server]) bind(pid, accepts);
    for (const pid of [replica.pid, leader.pid, processOf(servers.standby)]) bind(pid, reads);
  }
  await allAccepted(request, 64, accepted);
  const rates: Record<Way, number[]> = { nobody: [], replica: [], leader: [] };
  for (let round = 0; round < rounds; round++)
    for (const way of round % 2 === 0 ? WAYS : WAYS.toReversed()) {
      let isOver = false;
      const reading = way === 'nobody' ? null : readOn(way === 'replica' ? replica : leader, () => isOver);
      const spent = meterCpu([accepting.pid], server);
      const begun = performance.now();
      const result: LoadResult = await allAccepted(request, 64, accepted);
      const seconds = (performance.now() - begun) / 1_000;
      const cpu = spent(accepted);
      isOver = true;
      const waited = way === 'replica' ? `, waited ${(await lastWait(METRICS.replica)).toFixed(1)} ms` : '';
      const read = await reading;
      rates[way].push(result.perSecond);
      const told = read
        ? `, ${(read.reads / seconds).toFixed(0)} reads/s, ${read.bad} not answered${waited}`
        : '';
      console.log(
        `${way}: ${result.perSecond.toFixed(0)} accepted/s, p50 ${result.p50.toFixed(1)} ms, p99 ${result.p99.toFixed(1)} ms, µs an email: instance ${cpu.service.toFixed(0)}, server ${cpu.postgres.toFixed(0)}${told}`,
      );
    }
  console.log(`Reads of the instance with a replica: ${await answeredBy(METRICS.replica)}`);
  for (const way of ['replica', 'leader'] as const)
    console.log(
      `Beside reads from the ${way}: ${(middle(rates[way]) / middle(rates.nobody)).toFixed(3)} of the rate with nobody reading, by the medians`,
    );
} finally {
  await servers.stop();
}
