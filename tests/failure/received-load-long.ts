// Mail comes in from real programs while everything breaks, and a ledger is held against the database:
//
//   POSTHORN_EXECUTABLE=dist/posthorn bun tests/failure/received-load-long.ts [--seconds 120] [--sessions 24] [--only exim,direct] [--quiet] [--filled 2000] [--help]
//
// Postfix, Exim and OpenSMTPD of Debian relay what they are given, swaks and sessions of this process hand in directly, to two instances
// on one PostgreSQL whose disk is small. In turns: each instance is killed (SIGKILL), PostgreSQL is struck and stopped, its disk is filled
// by others, both instances are killed. Each message that was answered 250 has to be there, once for each recipient; every other comes again and
// is there once. It needs root; Exim and OpenSMTPD live in file trees of debootstrap, and a program that cannot be had is named with the
// reason. It prints the rate and the processor time that a message takes of each program, and with --quiet breaks nothing. With --filled each server
// is given so many messages before, and holds them; then they leave together while nothing else is given or breaks. It ends with an error where the ledger does not hold.
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import postgres from 'postgres';
import { timeOfTree } from '../bench/cpu.ts';
import { startCluster } from '../support/cluster.ts';
import { eventually } from '../support/eventually.ts';
import { DirectSenders, judgeLedger, Ledger, startReceivers } from './received-load.ts';
import { feed, type LoadRelay, SERVERS, sendBySwaks } from './received-load-programs.ts';

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '120' },
    sessions: { type: 'string', default: '24' },
    only: { type: 'string' },
    quiet: { type: 'boolean', default: false },
    filled: { type: 'string' },
    help: { type: 'boolean' },
  },
});
if (values.help) {
  console.log(
    'bun tests/failure/received-load-long.ts [--seconds 120] [--sessions 24] [--only NAME,…] [--quiet] [--filled 2000]',
  );
  console.log(`Names: ${[...Object.keys(SERVERS), 'swaks', 'direct'].join(', ')}`);
  process.exit(0);
}
const isAskedFor = (name: string): boolean => values.only?.split(',').includes(name) ?? true;
const [seconds, sessions] = [Number(values.seconds), Number(values.sessions)];
/** Messages that each server has before the measured time; 0 for none. */
const filled = Number(values.filled ?? 0);
const isQuiet = values.quiet || filled > 0;
/** Sessions that give messages to a mail server. */
const FEEDERS = 3;
const CALM_MS = 5_000;
/** Octets that a full disk has left. */
const LEFT = 1_048_576;
/** A server with a queue tries again for so long. */
const DRAINED = { withinMs: 900_000, everyMs: 5_000 };

await using stack = new AsyncDisposableStack();
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => void stack.disposeAsync().finally(() => process.exit(130)));
const disk = mkdtempSync(join(tmpdir(), 'posthorn-disk-'));
stack.defer(() => rmSync(disk, { recursive: true, force: true }));
const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=2g', 'tmpfs', disk], { encoding: 'utf8' });
if (mounted.status !== 0) throw new Error(`No small disk could be mounted: ${mounted.stderr}`);
stack.defer(() => void spawnSync('umount', ['-l', disk]));
chmodSync(disk, 0o755);
const cluster = await startCluster({ within: disk, settings: { max_wal_size: '256MB' } });
stack.defer(() => cluster.stop());
const receivers = stack.use(await startReceivers(cluster.url));
const ledger = new Ledger();
const end = new AbortController();
const given: Promise<unknown>[] = [];
const flushes: (() => Promise<unknown>)[] = [];
const programs: LoadRelay[] = [];
let swaksUs = 0;
for (const [name, start] of Object.entries(SERVERS)) {
  if (!isAskedFor(name)) continue;
  const relay = await start(receivers.ports);
  if ('reason' in relay) console.log(`${name} was not run: ${relay.reason}.`);
  else {
    stack.use(relay);
    programs.push(relay);
    if (relay.flush) flushes.push(relay.flush);
    for (let n = 0; filled === 0 && n < FEEDERS; n++) given.push(feed(relay, ledger, end.signal));
  }
}
if (filled === 0 && isAskedFor('swaks')) {
  if (Bun.which('swaks'))
    given.push(sendBySwaks(receivers.ports, ledger, end.signal, (us) => (swaksUs += us)));
  else console.log('swaks was not run: the Debian package swaks is not installed.');
}
const direct = stack.use(
  new DirectSenders(ledger, receivers.ports, filled === 0 && isAskedFor('direct') ? sessions : 0),
);

/** Fills the queues of the servers, and has them leave. */
async function fill(): Promise<void> {
  await Promise.all(programs.map((one) => one.hold()));
  const each = { most: Math.ceil(filled / FEEDERS), paceMs: 0 };
  const feeders = programs.flatMap((one) => Array.from({ length: FEEDERS }, () => one));
  await Promise.all(feeders.map((one) => feed(one, ledger, end.signal, each)));
  console.log(`The queues hold ${ledger.answered} messages.`);
  await Promise.all(programs.map((one) => one.release()));
}

/** Messages that are stored by the program that handed them in, and their sum as `all`, while PostgreSQL answers. */
async function storedBy(): Promise<Readonly<Record<string, number>> | null> {
  const sql = postgres(cluster.url, { max: 1, onnotice: () => {}, connect_timeout: 2 });
  try {
    const rows = await sql<{ by: string | null; n: number }[]>`
      select substring(summary ->> 'messageId' from '^<([a-z]+)-') as by, count(distinct summary ->> 'messageId')::int as n
      from received group by rollup (1)`;
    return Object.fromEntries(rows.map(({ by, n }) => [by ?? 'all', n]));
  } catch {
    return null;
  } finally {
    await sql.end({ timeout: 1 });
  }
}

const stored = async (): Promise<number | null> => (await storedBy())?.all ?? null;

/** Processor time of each program since its start, in microseconds. */
function spent(): Readonly<Record<string, number>> {
  const { user, system } = process.cpuUsage();
  return {
    service: receivers.services.reduce((sum, { pid }) => sum + timeOfTree(pid), 0),
    PostgreSQL: timeOfTree(Number.parseInt(readFileSync(join(cluster.data, 'postmaster.pid'), 'utf8'), 10)),
    ...Object.fromEntries(programs.map(({ name, pid }) => [name, timeOfTree(pid)])),
    swaks: swaksUs,
    'direct, feeders': user + system,
  };
}

/** Sums of the calm times: messages, and microseconds of processors. */
const calm = { messages: new Map<string, number>(), spent: new Map<string, number>() };
const add = (sums: Map<string, number>, name: string, more: number): void =>
  void sums.set(name, (sums.get(name) ?? 0) + more);

/** Watches the load while nothing breaks; messages a second, null where PostgreSQL did not answer. */
async function watch(): Promise<number | null> {
  const from = [await storedBy(), spent(), performance.now()] as const;
  await Bun.sleep(CALM_MS);
  const to = [await storedBy(), spent(), performance.now()] as const;
  if (from[0] === null || to[0] === null) return null;
  for (const [name, count] of Object.entries(to[0])) add(calm.messages, name, count - (from[0][name] ?? 0));
  for (const [name, us] of Object.entries(to[1])) add(calm.spent, name, us - (from[1][name] ?? 0));
  return (((to[0].all ?? 0) - (from[0].all ?? 0)) / (to[2] - from[2])) * 1_000;
}

const isUp = (): Promise<true> =>
  eventually(
    'PostgreSQL answers',
    async () => {
      if ((await stored()) !== null) return true;
      // It has ended where its log found no room.
      await cluster.up().catch(() => {});
      return undefined;
    },
    { withinMs: 120_000, everyMs: 500 },
  );

/** Fills the disk until the service has put messages off for it. */
async function fillDisk(): Promise<void> {
  const ballast = join(disk, 'ballast');
  const before = direct.putOff;
  // The rest fills up by itself: PostgreSQL writes all the time.
  const { bavail, bsize } = statfsSync(disk);
  await Bun.spawn(['fallocate', '-l', String(bavail * bsize - LEFT), ballast]).exited;
  await eventually('messages that are put off', async () => direct.putOff > before + 20 || undefined, {
    withinMs: 30_000,
  }).catch(() => console.log('The full disk put no message off within 30 s.'));
  rmSync(ballast);
  await isUp();
}

const FAULTS: Readonly<Record<string, () => Promise<unknown>>> = {
  'an instance is killed': () => receivers.strike(0),
  'PostgreSQL is struck': () => cluster.strike().then(() => cluster.up()),
  'the disk is full': fillDisk,
  'the other instance is killed': () => receivers.strike(1),
  'PostgreSQL is stopped': () => cluster.down().then(() => cluster.up()),
  'both instances are killed': () => Promise.all([receivers.strike(0), receivers.strike(1)]),
};

const rates: number[] = [];
const counts: Record<string, number> = {};
if (filled > 0) await fill();
const begin = performance.now();
/** With full queues the last of them leave slower: what is measured ends when half of all is stored. */
const isPast = async (): Promise<boolean> => filled > 0 && ((await stored()) ?? 0) > ledger.answered / 2;
for (let turn = 0; performance.now() - begin < seconds * 1_000 && !(await isPast()); turn++) {
  const rate = await watch();
  if (rate !== null) rates.push(rate);
  if (isQuiet) {
    console.log(`${Math.round((performance.now() - begin) / 1_000)} s: ${Math.round(rate ?? 0)} a second`);
    continue;
  }
  const [name, fault] = Object.entries(FAULTS)[turn % Object.keys(FAULTS).length] as [
    string,
    () => Promise<unknown>,
  ];
  counts[name] = (counts[name] ?? 0) + 1;
  console.log(
    `${Math.round((performance.now() - begin) / 1_000)} s: ${Math.round(rates.at(-1) ?? 0)} a second; ${name}`,
  );
  await fault();
}
console.log(
  'Processor time in calm times, µs a message that the program brought (service and PostgreSQL: of all):',
);
console.table(
  Object.fromEntries(
    [...calm.spent].map(([name, us]) => {
      const messages = calm.messages.get(name.replace(/,.*/, '')) ?? calm.messages.get('all') ?? 0;
      return [name, { messages, 'µs a message': Math.round(us / Math.max(1, messages)) }];
    }),
  ),
);
const lasted = (performance.now() - begin) / 1_000;
const then = (await stored()) ?? 0;
end.abort();
await Promise.all([...given, direct.finish()]);
await isUp();
const expected = [...ledger.entries.values()].filter(({ isAnswered }) => isAnswered).length;
await eventually(
  'all queues are empty',
  async () => {
    if (((await stored()) ?? 0) >= expected) return true;
    await Promise.all(flushes.map((flush) => flush()));
    return undefined;
  },
  DRAINED,
).catch(() => console.log('✗ Not all queues are empty.'));
const { rows, faults } = await judgeLedger(cluster.url, ledger, receivers.services[0]?.url ?? '');
const by = Map.groupBy(ledger.entries.values(), (entry) => entry.by);
console.table(
  Object.fromEntries(
    [...by].map(([name, entries]) => [
      name,
      { 'handed in': entries.length, answered: entries.filter(({ isAnswered }) => isAnswered).length },
    ]),
  ),
);
console.table(counts);
console.log(
  `Direct sessions repeated ${direct.again} messages; put off: ${JSON.stringify(Object.fromEntries(direct.refusals))}.`,
);
console.log(
  `${then} messages in ${Math.round(lasted)} s with all faults (${Math.round(then / lasted)} a second); without a fault ${Math.round(Math.max(...rates))} a second at best, ${Math.round(rates.toSorted((a, b) => a - b)[Math.floor(rates.length / 2)] ?? 0)} in the middle; ${rows} rows.`,
);
for (const fault of faults.slice(0, 20)) console.log(`✗ ${fault}`);
console.log(
  faults.length === 0
    ? 'Every message that was answered 250 is there once; every other is there once or not at all.'
    : `WRONG: ${faults.length} faults.`,
);
// The servers would outlive this process.
await stack.disposeAsync();
process.exit(faults.length === 0 ? 0 : 1);
