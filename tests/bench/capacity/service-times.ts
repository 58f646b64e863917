import type postgres from 'postgres';
import { TEST_KEY } from '../../support/service.ts';
import { EMAIL, IN_A_WEEK } from '../accepted.ts';
import { machineTime, timeOf, timeOfServer } from '../cpu.ts';
import { type PreparedRequest, preparePost } from '../load.ts';
import { median } from '../median.ts';
import { openBursts } from './bursts.ts';
import { fitCost } from './costs.ts';
import type { Look, Point, ServiceTimes, WriteCost } from './times.ts';

/**
 * Emails at one moment, which divide `EMAILS`; batches grow with them, so that the cost of a batch is
 * separated from that of an email.
 */
const SIZES = [32, 96, 256] as const;
/** Emails of one size. */
const EMAILS = 6_144;
/**
 * Emails come so far apart that there are rests, and none so long that caches go cold, by which an email
 * would take a fifth more.
 */
const APART_MS = 0.3;
const IDLE_MS = 3_000;
/** Backends hand in their counts when they are idle, at the latest after a second. */
const HANDED_IN_MS = 1_200;

/** The installation that is measured. */
export interface Installation {
  /** The instance that is asked. */
  readonly service: { readonly pid: number; readonly port: number };
  /** The port of that instance's metrics. */
  readonly metricsPort: number;
  /** All instances that run on the server, this one included. */
  readonly instances: readonly { readonly pid: number }[];
  readonly postgres: number;
  /** A superuser's connection to the server, which measures its flushes (track_wal_io_timing). */
  readonly sql: postgres.Sql;
}

interface Spent {
  readonly seconds: number;
  readonly service: number;
  readonly mainThread: number;
  readonly others: number;
  readonly postgres: number;
  readonly client: number;
  readonly interrupts: number;
  readonly batches: number;
}

/** The commits of emails so far, by the metrics of an instance. */
export async function batchesOf(port: number): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  return Number(/^posthorn_engine_batch_actors_count\{kind="email"\} (\d+)$/m.exec(text)?.[1] ?? 0);
}

/** Flushes of the WAL so far, and how long they took. */
async function flushes(sql: postgres.Sql): Promise<{ readonly count: number; readonly us: number }> {
  await Bun.sleep(HANDED_IN_MS);
  const [row] = await sql<{ count: number; us: number }[]>`
    select coalesce(sum(fsyncs), 0)::float8 as count, coalesce(sum(fsync_time), 0)::float8 * 1000 as us
    from pg_stat_io where object = 'wal' and context = 'normal'`;
  return row ?? { count: 0, us: 0 };
}

async function meter(installation: Installation, work: () => Promise<void>): Promise<Spent> {
  const { service, metricsPort, instances, postgres } = installation;
  const read = async () => {
    const client = process.cpuUsage();
    const asked = timeOf(service.pid);
    return {
      batches: await batchesOf(metricsPort),
      seconds: performance.now() / 1_000,
      service: asked.process,
      mainThread: asked.mainThread,
      others: instances.reduce((sum, { pid }) => sum + (pid === service.pid ? 0 : timeOf(pid).process), 0),
      // The checkpointer and autovacuum come when they come.
      postgres: timeOfServer(postgres).backends,
      client: client.user + client.system,
      interrupts: machineTime().interrupts,
    };
  };
  const before = await read();
  await work();
  const after = await read();
  const names = Object.keys(before) as (keyof Spent)[];
  return Object.fromEntries(names.map((name) => [name, after[name] - before[name]])) as unknown as Spent;
}

/** Sends emails in bursts, with rests in between. */
async function send(request: PreparedRequest, size: number): Promise<void> {
  using bursts = await openBursts(request, size);
  for (let sent = 0; sent < EMAILS; sent += size) {
    const begun = performance.now();
    await bursts.burst();
    // The last outcomes of a burst may still be under way.
    await Bun.sleep(Math.max(2, begun + size * APART_MS - performance.now()));
  }
}

/** Looks at what everything takes while nothing waits for anything else: some 20 s. */
export async function lookAtLowLoad(installation: Installation): Promise<Look> {
  const { service, instances, sql } = installation;
  const before = await flushes(sql);
  const idle = await meter(installation, () => Bun.sleep(IDLE_MS));
  const rest = (us: number) => us / idle.seconds;
  let last: Spent = idle;
  const all: Spent[] = [];
  const each = (us: number, { seconds }: Spent, idleUs: number) =>
    Math.max(0, us - rest(idleUs) * seconds) / EMAILS;
  const pointsOf = async (body: unknown): Promise<Point[]> => {
    const request = preparePost(service.port, '/v1/emails', TEST_KEY, body);
    const points: Point[] = [];
    for (const size of SIZES) {
      last = await meter(installation, () => send(request, size));
      all.push(last);
      const batches = last.batches / EMAILS;
      points.push({
        service: { batches, spent: each(last.service, last, idle.service) },
        postgres: { batches, spent: each(last.postgres, last, idle.postgres) },
      });
    }
    return points;
  };
  const accepted = await pointsOf({ ...EMAIL, scheduledAt: IN_A_WEEK });
  // The largest bursts come nearest to connections that never rest.
  const { client, kernel } = {
    client: each(last.client, last, idle.client),
    kernel: each(last.interrupts, last, idle.interrupts),
  };
  const life = await pointsOf(EMAIL);
  const after = await flushes(sql);
  const sum = (name: 'service' | 'mainThread') => all.reduce((total, spent) => total + spent[name], 0);
  return {
    accepted,
    life,
    client,
    kernel,
    mainThread: Math.min(1, sum('mainThread') / sum('service')),
    idle: {
      service: rest(idle.service + idle.others) / instances.length,
      postgres: rest(idle.postgres) / instances.length,
    },
    flush: (after.us - before.us) / (after.count - before.count),
  };
}

/**
 * The service times that several looks agree on: the median at each size of bursts, and the costs that fit
 * these.
 */
export function timesOf(looks: readonly Look[]): ServiceTimes {
  const costOf = (kind: 'accepted' | 'life', side: keyof Point) =>
    fitCost(
      SIZES.map((_, n) => ({
        batches: median(looks.map((look) => look[kind][n]?.[side].batches ?? 0)),
        spent: median(looks.map((look) => look[kind][n]?.[side].spent ?? 0)),
      })),
    );
  const write = (kind: 'accepted' | 'life'): WriteCost => ({
    service: costOf(kind, 'service'),
    postgres: costOf(kind, 'postgres'),
  });
  const middle = (of: (look: Look) => number) => median(looks.map(of));
  return {
    accepted: write('accepted'),
    life: write('life'),
    client: middle((look) => look.client),
    kernel: middle((look) => look.kernel),
    mainThread: middle((look) => look.mainThread),
    idle: { service: middle((look) => look.idle.service), postgres: middle((look) => look.idle.postgres) },
    flush: middle((look) => look.flush),
  };
}
