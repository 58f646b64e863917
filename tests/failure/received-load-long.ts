// Mail comes in from real programs while everything breaks, and a ledger is held against the database:
//
//   POSTHORN_EXECUTABLE=dist/posthorn bun tests/failure/received-load-long.ts --filled 12000
//     [--warm 25] [--calm 5] [--seconds 0] [--sessions 24] [--pace 200] [--only exim,direct] [--quiet] [--drain 60] [--help]
//
// Postfix, Exim and OpenSMTPD of Debian relay what they are given, swaks and sessions of this process hand in
// directly, to two instances on one PostgreSQL whose disk is small. In turns, each after a calm time: each
// instance is killed (SIGKILL), PostgreSQL is struck and stopped, its disk is filled by others, both
// instances are killed. Each message that was answered 250 has to be there, once for each recipient; every
// other comes again and is there once. With --filled the servers have so many messages before, in parts by
// what each can do, and let go of them together: what they cost to take is not of the measured time. Without
// it sessions give them some all the time. It needs root; Exim and OpenSMTPD live in file trees of
// debootstrap, and a program that cannot be had is named with the reason. It tells of each program its
// messages, the time that it took for them, its processor time and the answers that it got, and with --quiet
// breaks nothing. It ends with an error where the ledger does not hold. A queue that is not empty in time is
// judged by the log of its server.
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, statfsSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import postgres from 'postgres';
import { timeOfId } from '../../src/platform/db/ids.ts';
import { startCluster } from '../support/cluster.ts';
import { eventually } from '../support/eventually.ts';
import { DirectSenders, judgeLedger, Ledger, startReceivers } from './received-load.ts';
import {
  costFigures,
  Meter,
  programFigures,
  type Span,
  type Spent,
  type StoredAt,
  spanFigures,
  within,
} from './received-load-figures.ts';
import { feed, type LoadRelay, SERVERS, sendBySwaks } from './received-load-programs.ts';
import { takenKey } from './received-load-replies.ts';

const { values } = parseArgs({
  options: {
    filled: { type: 'string', default: '0' },
    warm: { type: 'string', default: '25' },
    calm: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '0' },
    sessions: { type: 'string' },
    pace: { type: 'string' },
    only: { type: 'string' },
    quiet: { type: 'boolean', default: false },
    drain: { type: 'string', default: '60' },
    help: { type: 'boolean' },
  },
});
if (values.help) {
  console.log(
    'bun tests/failure/received-load-long.ts [--filled 12000] [--warm 25] [--calm 5] [--seconds 0] [--sessions 24] [--pace 200] [--only NAME,…] [--quiet] [--drain 60]',
  );
  console.log(`Names: ${[...Object.keys(SERVERS), 'swaks', 'direct'].join(', ')}`);
  process.exit(0);
}
const isAskedFor = (name: string): boolean => values.only?.split(',').includes(name) ?? true;
/** Messages that the servers have before the measured time; 0 for none. */
const filled = Number(values.filled);
/** Direct sessions beside full queues are there to tell that a full disk puts messages off. */
const sessions = Number(values.sessions ?? (filled > 0 ? 1 : 24));
const seconds = Number(values.seconds);
const warmMs = Number(values.warm) * 1_000;
const calmMs = Number(values.calm) * 1_000;
/** Sessions that give messages to a mail server. */
const FEEDERS = 3;
/** Octets that a full disk has left. */
const LEFT = 1_048_576;
const MOST_TRIES = 50;
/** Messages that a full disk puts off. */
const PUT_OFF = 5;
/**
 * Between two messages of a direct session. Beside full queues one session only probes by default: without a
 * pause it would bring more than all of them. Several with a short pause bring what the servers cannot, which
 * cost more processor time than the service.
 */
const paceMs = Number(values.pace ?? (filled > 0 ? 200 : 0));
/** The rate that the run is held against. */
const AIM = 500;
const LOOK_MS = 1_000;
/** Servers are asked to try again so often: what has failed waits for minutes otherwise. */
const FLUSH_MS = 4_000;

const now = (): number => performance.timeOrigin + performance.now();
const started = now();
const say = (words: string): void => console.log(`${((now() - started) / 1_000).toFixed(0)} s: ${words}`);

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
const programs: LoadRelay[] = [];
for (const [name, start] of Object.entries(SERVERS)) {
  if (!isAskedFor(name)) continue;
  const relay = await start(receivers.ports);
  if ('reason' in relay) console.log(`${name} was not run: ${relay.reason}.`);
  else programs.push(stack.use(relay));
}
if (filled > 0) await fill();

/** Fills the queues of the servers, which keep all of it. */
async function fill(): Promise<void> {
  const shares = programs.reduce((sum, { share }) => sum + share, 0);
  await Promise.all(
    programs.map(async (one) => {
      await one.hold();
      const begin = now();
      const each = { most: Math.ceil((filled * one.share) / shares / FEEDERS), paceMs: 0 };
      await Promise.all(Array.from({ length: FEEDERS }, () => feed(one, ledger, end.signal, each)));
      say(
        `${one.name} holds ${each.most * FEEDERS} messages after ${((now() - begin) / 1_000).toFixed(1)} s.`,
      );
    }),
  );
}

/** 0 while it restarts. */
function pidOfPostgres(): readonly number[] {
  try {
    return [Number.parseInt(readFileSync(join(cluster.data, 'postmaster.pid'), 'utf8'), 10)];
  } catch {
    return [];
  }
}
const meter = new Meter(() => ({
  instances: receivers.services.map(({ pid }) => pid),
  PostgreSQL: pidOfPostgres(),
  ...Object.fromEntries(programs.map(({ name, pid }) => [name, [pid]])),
}));
const looking = setInterval(() => void meter.look(), LOOK_MS);
stack.defer(() => clearInterval(looking));

const begin = now();
if (filled > 0) await Promise.all(programs.map((one) => one.release()));
else for (const one of programs) for (let n = 0; n < FEEDERS; n++) given.push(feed(one, ledger, end.signal));
if (isAskedFor('swaks')) {
  if (Bun.which('swaks')) given.push(sendBySwaks(receivers.ports, ledger, end.signal, meter.addSwaks));
  else console.log('swaks was not run: the Debian package swaks is not installed.');
}
const direct = stack.use(
  new DirectSenders(ledger, receivers.ports, filled > 0 || isAskedFor('direct') ? sessions : 0, paceMs),
);

/** Messages that are stored, while PostgreSQL answers. */
async function stored(): Promise<number | null> {
  // On a busy machine a sign-in takes seconds.
  const sql = postgres(cluster.url, { max: 1, onnotice: () => {}, connect_timeout: 10 });
  try {
    const [row] = await sql<
      { n: number }[]
    >`select count(distinct summary ->> 'messageId')::int as n from received`;
    return row?.n ?? 0;
  } catch {
    return null;
  } finally {
    await sql.end({ timeout: 1 });
  }
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
  const take = (): Promise<number> => {
    const { bavail, bsize } = statfsSync(disk);
    return Bun.spawn(['fallocate', '-l', String(bavail * bsize - LEFT), ballast], { stderr: 'ignore' })
      .exited;
  };
  // It has less room meanwhile where PostgreSQL has taken some.
  for (let tries = 0; (await take()) !== 0; tries++)
    if (tries === MOST_TRIES) throw new Error('The disk could not be filled.');
  await eventually('messages that are put off', async () => direct.putOff > before + PUT_OFF || undefined, {
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

const spans: Span[] = [];
const calm: Record<string, number> = {};
async function during(name: string, work: () => Promise<unknown>): Promise<void> {
  const before = meter.look();
  const from = now();
  await work();
  spans.push({ name, from, to: now() });
  const after = meter.look();
  if (name !== 'calm') return;
  for (const [of, us] of Object.entries(after)) calm[of] = (calm[of] ?? 0) + us - (before[of] ?? 0);
}
const flush = (): Promise<unknown> => Promise.all(programs.map((one) => one.flush?.()));
/**
 * `ms` of nothing but load. An attempt of a server at an instance that is not there costs it as much as one
 * that succeeds.
 */
const rest = (ms: number): Promise<void> =>
  during('calm', async () => {
    for (const until = now() + ms; now() < until; ) {
      await flush();
      await Bun.sleep(Math.min(FLUSH_MS, Math.max(0, until - now())));
    }
  });
const names = Object.keys(FAULTS);
// Instances that have just started compile their code for thousands of messages: this part tells what they do
// later.
await rest(warmMs);
for (let turn = 0; turn < names.length || now() - begin < seconds * 1_000; turn++) {
  if (turn > 0) await rest(calmMs);
  const name = names[turn % names.length] ?? '';
  if (values.quiet) continue;
  say(name);
  await during(name, FAULTS[name] ?? isUp);
}
await rest(calmMs);
const measured = { from: begin, to: now() };
const spent = meter.look();
const others = meter.others(spent);
end.abort();
await Promise.all([...given, direct.finish()]);
await isUp();
const held = ledger.answered;
say('Nothing more is handed in or breaks; the queues become empty.');
const isEmpty = async (): Promise<true | undefined> => {
  if (((await stored()) ?? 0) >= held) return true;
  await flush();
  return undefined;
};
const isDrained = await eventually('all queues are empty', isEmpty, {
  withinMs: Number(values.drain) * 1_000,
  everyMs: FLUSH_MS,
}).then(
  () => true,
  () => false,
);
const replies = await Promise.all(
  programs.map(async (one) => ({ name: one.name, ...(await one.replies()) })),
);
if (!isDrained) {
  // Only what the service answered counts then: a server still has the rest.
  say('Not all queues are empty: the answers of the service are those in the logs of the servers.');
  for (const { name, taken } of replies)
    for (const entry of ledger.entries.values())
      if (entry.by === name)
        entry.isAnswered = entry.to.every((to) => taken?.has(takenKey(entry.messageId, to)));
}
const { rows, faults: found } = await judgeLedger(cluster.url, ledger, receivers.services[0]?.url ?? '');
const faults = [...found];
const keys = new Set(rows.map(({ messageId, to }) => takenKey(messageId, to)));
for (const { name, taken } of replies)
  for (const key of taken ?? [])
    if (!keys.has(key)) faults.push(`lost: ${name} has been answered 250 for ${key}, which is not there`);

const first = new Map<string, StoredAt>();
for (const { id, messageId } of rows) {
  const at = timeOfId(id);
  const before = first.get(messageId);
  if (!before || at < before.at)
    first.set(messageId, { by: ledger.entries.get(messageId)?.by ?? 'foreign', at });
}
const all = [...first.values()];

console.log('\nParts of the time:');
console.table(spans.map((span) => ({ part: span.name, ...spanFigures(all, span) })));
console.log('Programs, in the measured time; each by itself from its first message to its last one:');
const by = Map.groupBy(ledger.entries.values(), (entry) => entry.by);
const figures = programFigures(all, measured);
console.table(
  Object.fromEntries(
    [...by].map(([name, entries]) => [
      name,
      {
        'handed in': entries.length,
        ...(figures[name] ?? { messages: 0, seconds: 0, 'a second': 0 }),
        'stored in the end': all.filter((one) => one.by === name).length,
      },
    ]),
  ),
);
const countsOf = (stored: readonly StoredAt[]): Record<string, number> =>
  Object.fromEntries(
    Map.groupBy(stored, (one) => one.by)
      .entries()
      .map(([name, each]) => [name, each.length]),
  );
const calmSpans = spans.filter(({ name }) => name === 'calm');
const inCalm = calmSpans.flatMap((span) => within(all, span));
function tellCosts(title: string, of: Spent, stored: readonly StoredAt[]): void {
  const { rows: costs, usAMessage, possible } = costFigures(of, countsOf(stored));
  console.log(
    `Processor time ${title}, µs a message that the program brought (instances, PostgreSQL, this program: of all):`,
  );
  console.table(costs);
  console.log(
    `${Math.round(usAMessage)} µs of processors a message in all: ${cpus().length} processors with nothing else to do could take ${Math.round(possible)} a second of these.`,
  );
}
tellCosts('in calm times', calm, inCalm);
tellCosts('in all of the measured time', spent, within(all, measured));
console.log('Answers to each server:');
for (const { name, counts } of replies)
  for (const [words, count] of [...counts].sort((a, b) => b[1] - a[1]))
    console.log(`  ${name} ${count} × ${words}`);
console.log(
  `  direct sessions repeated ${direct.again} messages; put off: ${JSON.stringify(Object.fromEntries(direct.refusals))}`,
);
const rates = calmSpans.map((span) => spanFigures(all, span)['a second']).sort((a, b) => a - b);
const whole = spanFigures(all, measured);
const capacity = (cpus().length * (measured.to - measured.from)) / 1_000;
console.log(
  `\n${whole.messages} messages in ${whole.seconds} s with all faults (${whole['a second']} a second); in calm times ${rates.at(-1)} a second at best, ${rates[rates.length >> 1]} in the middle; ${rows.length} rows.`,
);
console.log(
  `Others had ${((others / 1e6 / capacity) * 100).toFixed(0)} % of the processors meanwhile; the load of the machine is ${loadavg()[0]?.toFixed(1)}.`,
);
const lastFault = spans.findLast(({ name }) => name !== 'calm')?.from ?? 0;
for (const { name } of programs) {
  const last = all.reduce((most, one) => (one.by === name ? Math.max(most, one.at) : most), 0);
  if (last < lastFault)
    console.log(
      `✗ ${name} had nothing left ${((lastFault - last) / 1_000).toFixed(0)} s before the last fault: fill more.`,
    );
}
for (const fault of faults.slice(0, 20)) console.log(`✗ ${fault}`);
console.log(
  `${(rates.at(-1) ?? 0) >= AIM ? 'Reached' : 'Missed'}: ${AIM} messages a second while nothing breaks.`,
);
console.log(
  faults.length === 0
    ? 'Held: every message that was answered 250 is there once; every other is there once or not at all.'
    : `WRONG: ${faults.length} faults.`,
);
// The servers would outlive this process.
await stack.disposeAsync();
process.exit(faults.length === 0 ? 0 : 1);
