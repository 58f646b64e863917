import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { parseArgs } from 'node:util';
import pino from 'pino';
import { MailSink } from '../../src/ops/torture/mail-sink.ts';
import { NoPostgres } from '../../src/ops/torture/postgres-programs.ts';
import { loadConfig } from '../../src/platform/config/config.ts';
import { DAY_MS, systemClock } from '../../src/platform/time/clock.ts';
import { openService } from '../../src/service.ts';
import { throughput } from '../bench/on-nodes.ts';
import { command } from '../support/command.ts';
import { LIVE_KEY, type Service, startService, TEST_KEY } from '../support/service.ts';
import { CitusCluster, NoCitus } from './citus-cluster.ts';
import { LOG_PREFIX, LOGGING, NodeStatements } from './citus-statements.ts';
import { type Walk, walk } from './citus-walk.ts';

// Posthorn on a cluster of Citus that this makes, on loopback: a coordinator, and workers beside it.
//   bun tests/failure/citus-long.ts [--postgres-bin FOLDER] [--workers 2] [--seconds 20]
//   bun tests/failure/citus-long.ts [--postgres-bin FOLDER] --contract [paths of tests]
// It distributes a database, walks the interface through one instance and then through two, holds what was
// acknowledged against what a mail server has, runs every duty, also a year later, when everything is
// removed, and ends with the statements that went to more than one shard and the rate of acceptance beside a
// database of one server, in turns. With --contract it runs tests instead, each on a distributed database of
// one node; those that build a part of the service by themselves know nothing of the nodes. Citus must be
// installed for the PostgreSQL that is found, or named. Exit code 1 when anything was not as it must be, 2
// where there is no Citus.

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    contract: { type: 'boolean', default: false },
    'postgres-bin': { type: 'string' },
    workers: { type: 'string', default: '2' },
    seconds: { type: 'string', default: '20' },
  },
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(130));
// The waits of a start keep no process alive.
const alive = setInterval(() => {}, 60_000);

const statements = new NodeStatements();
const faults: string[] = [];
const wrong = (fault: string): void => {
  faults.push(fault);
  say(`WRONG: ${fault}`);
};
const say = (line: string): void => console.log(`${new Date().toISOString().slice(11, 19)} ${line}`);
const ENV = {
  SECRET_KEY: 'only-for-tests-only-for-tests-only',
  DEFAULT_PLAN: 'unlimited',
  TEST_SENDS_PER_DAY: '0',
  RATE_LIMIT_PER_IP: '0',
  RATE_LIMIT_PER_KEY: '0',
  RATE_LIMIT_PREVIEW: '0',
  WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8',
  DNS_SERVERS: '127.0.0.1:9',
};

/** Each test has a separate database, and Citus a process for each. */
const MANY_DATABASES = { max_connections: '400', max_worker_processes: '100', fsync: 'off' };

const cluster = await CitusCluster.start({
  programs: values['postgres-bin'] ?? null,
  workers: values.contract ? 0 : Number(values.workers),
  settings: { log_line_prefix: LOG_PREFIX, ...(values.contract && MANY_DATABASES) },
  onLog: statements.take,
}).catch((error: unknown) => {
  if (!(error instanceof NoCitus || error instanceof NoPostgres)) throw error;
  console.error(error.message);
  process.exit(2);
});
process.on('exit', () => cluster.stopNow());
if (values.contract) process.exit(await contract());
const receiver = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => new Response('ok') });

for (const instances of [1, 2]) {
  const name = `walk_${instances}`;
  const url = await cluster.createDatabase(name);
  if (instances === 1) say(await cluster.version(name));
  await distributed(url);
  await cluster.alter(name, LOGGING);
  await walkOn(url, instances);
}
console.table(
  statements.spread.map(({ shards, times, during, text }) => ({
    shards,
    times,
    during,
    text: text.slice(0, 90),
  })),
);
say(
  `${statements.seen} statements went to nodes, ${statements.spread.length} of them to more than one shard.`,
);
for (const [what, times] of statements.failed) say(`${times} × ${what}`);

const plain = await cluster.createPlainDatabase('plain');
const spread = await cluster.createDatabase('spread');
await distributed(spread);
for (const line of await throughput({ plain, spread, env: ENV, seconds: Number(values.seconds) })) say(line);

say(faults.length === 0 ? 'Nothing was lost, doubled or refused.' : `${faults.length} faults.`);
await receiver.stop(true);
await cluster.stop();
clearInterval(alive);
process.exit(faults.length === 0 ? 0 : 1);

async function contract(): Promise<number> {
  const tests = positionals.length > 0 ? positionals : ['tests/contract'];
  const run = spawn(process.execPath, ['tests/run.ts', ...tests], {
    stdio: 'inherit',
    env: { ...process.env, TEST_DATABASE_URL: cluster.url, TEST_CITUS: 'true' },
  });
  const [code] = (await once(run, 'close')) as [number | null];
  return code ?? 1;
}

async function distributed(url: string): Promise<void> {
  for (const time of ['once', 'again']) {
    const { code, out, error } = await command({ ...ENV, DATABASE_URL: url }, 'migrate', '--distributed');
    if (code !== 0) throw new Error(error);
    if (time === 'again' && !out.includes('The tables are distributed.'))
      wrong(`A second migration did something: ${out}`);
  }
}

async function walkOn(url: string, instances: number): Promise<void> {
  const sink = await MailSink.open(1, 'faultless');
  const env = { ...ENV, DATABASE_URL: url };
  // A reserved name verifies while mail is captured, and stays verified.
  const first = await startService({ env });
  await fetch(`${first.url}/v1/domains`, {
    method: 'POST',
    headers: { authorization: `Bearer ${LIVE_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'sender.example' }),
  });
  await first.stop();
  const sending = {
    TRANSPORT: 'smtp',
    SMTP_URL: `smtp://127.0.0.1:${sink.port}?tls=none`,
    EHLO_NAME: 'test.example',
  };
  const services: Service[] = [];
  for (let n = 0; n < instances; n++) services.push(await startService({ env: { ...env, ...sending } }));
  try {
    say(`The walk through ${instances} …`);
    const walked = await walk({
      urls: services.map((each) => each.url),
      live: LIVE_KEY,
      test: TEST_KEY,
      receiver: receiver.url.href,
      begin(what) {
        statements.during = what;
      },
    });
    hold(walked, sink);
    say(`${walked.requests} requests, ${walked.live.length} live emails, ${walked.faults.length} faults.`);
  } catch (error) {
    wrong(String(error));
  } finally {
    for (const service of services) {
      await service.stop();
      for (const line of service.output().split('\n'))
        if (/"level":"?(error|fatal|50|60)/.test(line)) wrong(`logged: ${line.slice(0, 300)}`);
      await service[Symbol.asyncDispose]();
    }
    await sink.close();
  }
  statements.during = 'posthorn audit';
  const audited = await command({ ...env }, 'audit');
  if (audited.code !== 0) wrong(`audit: ${audited.out.slice(-500)} ${audited.error}`);
  await duties(url);
}

/** Every live email is at the mail server once. */
function hold({ live, faults: found }: Walk, sink: MailSink): void {
  found.forEach(wrong);
  const taken = new Map<string, number>();
  for (const [key, { copies }] of sink.taken) {
    const id = /em_\w+/.exec(key)?.[0] ?? '';
    taken.set(id, (taken.get(id) ?? 0) + copies);
  }
  for (const id of live) {
    const copies = taken.get(id) ?? 0;
    if (copies !== 1) wrong(`${id} is at the mail server ${copies} times.`);
  }
  for (const id of taken.keys()) if (!live.includes(id)) wrong(`${id} left, and was never acknowledged.`);
}

/** Runs every duty now, and once more when everything is older than it is kept. */
async function duties(url: string): Promise<void> {
  for (const days of [0, 400]) {
    const loaded = loadConfig({ ...ENV, DATABASE_URL: url });
    if ('problems' in loaded) throw new Error(loaded.problems.join('\n'));
    const machine = systemClock;
    const clock = { now: () => machine.now() + days * DAY_MS, monotonic: () => machine.monotonic() };
    const service = await openService({ config: loaded.config, logger: pino({ level: 'silent' }), clock });
    for (const duty of service.duties) {
      statements.during = `${duty.name}${days > 0 ? ', later' : ''}`;
      await duty.run().catch((error: unknown) => wrong(`${statements.during}: ${error}`));
    }
    if (days > 0) {
      const [row] = await service.database.query<{ left: number }>(
        'select count(*)::integer as left from emails',
      );
      if (row?.left !== 0) wrong(`${row?.left} emails are left when all have expired.`);
    }
    await service.stop();
  }
}
