import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import postgres from 'postgres';
import { startCluster } from '../support/cluster.ts';
import { type Service, spawnService, TEST_KEY } from '../support/service.ts';
import { allAccepted, EMAIL, IN_A_WEEK } from './accepted.ts';
import { meterCpu, meterThreads, parentOf, timeOf } from './cpu.ts';
import { preparePost } from './load.ts';
import { median } from './median.ts';
import { memoryOf } from './memory.ts';

// Compares executables in turns: the costs of a start, of a service at rest, and of an accepted email. The
// first one is what the others are compared with.
//   bun tests/bench/executables.ts --executables /work/before,dist/posthorn [--rounds 3] [--starts 5] [--emails 40000] [--only starts,emails]
const { values } = parseArgs({
  options: {
    executables: { type: 'string', default: 'dist/posthorn' },
    rounds: { type: 'string', default: '3' },
    /** Starts on a used database in each round, after one that is not counted. */
    starts: { type: 'string', default: '5' },
    emails: { type: 'string', default: '40000' },
    connections: { type: 'string', default: '64' },
    only: { type: 'string', default: 'starts,emails' },
  },
});
const executables = values.executables.split(',');
const [rounds, starts, emails, connections] = [
  values.rounds,
  values.starts,
  values.emails,
  values.connections,
].map(Number) as [number, number, number, number];
const only = values.only.split(',');

/** By then the work behind the first answer is over, compilers and first looks among it. */
const RESTED_MS = 3_000;
const EVERY_MS = 2;
/** Emails before those that count, for which code is compiled. */
const WARM = 8_000;

/** Figures of one turn by their names, each in the unit that its name says. */
type Figures = Readonly<Record<string, number>>;

const ENV = {
  SECRET_KEY: 'a bench has no secrets, but needs a key',
  LOG_LEVEL: 'warn',
  TEST_SENDS_PER_DAY: '0',
  RATE_LIMIT_PER_IP: '0',
  RATE_LIMIT_PER_KEY: '0',
};

const answers = (url: string): Promise<boolean> =>
  fetch(`${url}/health`).then(
    ({ ok }) => ok,
    () => false,
  );

async function started(executable: string, env: Record<string, string>, dataDir: string): Promise<Service> {
  const service = await spawnService({ command: [executable], dataDir, env: { ...ENV, ...env } });
  while (!(await answers(service.url))) await Bun.sleep(EVERY_MS);
  return service;
}

async function startsOf(executable: string, where: string, env: Record<string, string>): Promise<Figures> {
  const dataDir = mkdtempSync(join(tmpdir(), 'posthorn-executables-'));
  const seen: { wall: number; answered: number; rested: number; memory: number }[] = [];
  try {
    for (let n = 0; n <= starts; n++) {
      const begin = performance.now();
      await using service = await started(executable, env, dataDir);
      const wall = performance.now() - begin;
      const answered = timeOf(service.pid).process / 1_000;
      await Bun.sleep(RESTED_MS);
      const rested = timeOf(service.pid).process / 1_000;
      if (n > 0) seen.push({ wall, answered, rested, memory: memoryOf(service.pid).now });
      await service.stop();
    }
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
  const of = (figure: (one: (typeof seen)[number]) => number): number => median(seen.map(figure));
  return {
    [`start ${where}, until it answers, ms`]: of(({ wall }) => wall),
    [`start ${where}, processor time until then, ms`]: of(({ answered }) => answered),
    [`start ${where}, processor time after ${RESTED_MS / 1_000} s more, ms`]: of(({ rested }) => rested),
    [`at rest ${where}, MB`]: of(({ memory }) => memory),
  };
}

async function emailsOf(executable: string, url: string, server: number): Promise<Figures> {
  const dataDir = mkdtempSync(join(tmpdir(), 'posthorn-executables-'));
  await using service = await started(executable, { DATABASE_URL: url }, dataDir);
  const accept = preparePost(service.port, '/v1/emails', TEST_KEY, { ...EMAIL, scheduledAt: IN_A_WEEK });
  await allAccepted(accept, connections, WARM);
  const cpu = meterCpu([service.pid], server);
  const byThread = meterThreads(service.pid);
  const { perSecond } = await allAccepted(accept, connections, emails);
  const [spent, threads] = [cpu(emails), byThread(emails)];
  await service.stop();
  rmSync(dataDir, { recursive: true, force: true });
  return {
    'accepted, first thread, us': threads['first thread'] ?? 0,
    'accepted, service, us': spent.service,
    'accepted, PostgreSQL, us': spent.postgres,
    'accepted, a second': perSecond,
  };
}

const cluster = await startCluster();
const admin = postgres(cluster.url, { max: 1, onnotice: () => {} });
const [backend] = await admin<{ pid: number }[]>`select pg_backend_pid() as pid`;
const server = parentOf(backend?.pid ?? 0);

async function onDatabase<T>(name: string, work: (url: string) => Promise<T>): Promise<T> {
  await admin.unsafe(`drop database if exists ${name} with (force)`);
  await admin.unsafe(`create database ${name}`);
  const url = new URL(cluster.url);
  url.pathname = `/${name}`;
  try {
    return await work(url.href);
  } finally {
    await admin.unsafe(`drop database if exists ${name} with (force)`);
  }
}

async function turn(executable: string): Promise<Figures> {
  const onServer = (DATABASE_URL: string) => startsOf(executable, 'on PostgreSQL', { DATABASE_URL });
  return {
    ...(only.includes('starts') && {
      ...(await onDatabase('bench_starts', onServer)),
      ...(await startsOf(executable, 'embedded', {})),
    }),
    ...(only.includes('emails') &&
      (await onDatabase('bench_emails', (url) => emailsOf(executable, url, server)))),
  };
}

try {
  const turns = new Map<string, Figures[]>(executables.map((one) => [one, []]));
  for (let round = 0; round < rounds; round++)
    for (let n = 0; n < executables.length; n++) {
      const executable = executables[(n + round) % executables.length] as string;
      const figures = await turn(executable);
      turns.get(executable)?.push(figures);
      const text = Object.entries(figures).map(([name, value]) => `${name}: ${value.toFixed(1)}`);
      console.error(`round ${round + 1} ${executable}\n  ${text.join('\n  ')}`);
    }
  const [base = ''] = executables;
  const of = (executable: string, name: string): number =>
    median((turns.get(executable) ?? []).map((figures) => figures[name] ?? 0));
  console.log(`Medians of ${rounds} rounds; in brackets the ratio to the first.`);
  console.log(
    executables.map((one, n) => `${n}: ${one}, ${(statSync(one).size / 1e6).toFixed(1)} MB`).join('\n'),
  );
  for (const name of Object.keys(turns.get(base)?.[0] ?? {})) {
    const cells = executables.map((one) => {
      const value = of(one, name);
      return `${value.toFixed(1)} (${(value / of(base, name)).toFixed(3)})`;
    });
    console.log(`${name.padEnd(70)} ${cells.join('   ')}`);
  }
} finally {
  await admin.end();
  await cluster.stop();
}
process.exit(0);
