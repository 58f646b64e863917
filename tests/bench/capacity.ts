import { availableParallelism } from 'node:os';
import postgres from 'postgres';
import { freePort } from '../../src/ops/torture/free-port.ts';
import { TEST_KEY } from '../support/service.ts';
import { allAccepted, EMAIL, IN_A_WEEK } from './accepted.ts';
import { printCompared } from './capacity/compared.ts';
import { writtenPerSecond } from './capacity/disk.ts';
import { batchesOf, lookAtLowLoad, timesOf } from './capacity/service-times.ts';
import { simulate } from './capacity/simulation.ts';
import type { Look } from './capacity/times.ts';
import { machineTime, timeOf, timeOfServer } from './cpu.ts';
import type { Compared } from './figures.ts';
import { wholeLives } from './lives.ts';
import { preparePost } from './load.ts';
import { median } from './median.ts';
import type { Section, Workbench } from './workbench.ts';

const CONNECTIONS = 128;
const TURNS = 3;
/** So many that the beginning and the end do not count. */
const MOST_EMAILS = 40_000;
/** Compilers go on for so long: the first lives take a third more of the service than those after them. */
const WARM_UP = 60_000;
/** The prediction must come so near. */
const TOLERANCE = 0.2;

const POINTS = [
  { kind: 'accepted', instances: 1 },
  { kind: 'accepted', instances: 2 },
  { kind: 'life', instances: 1 },
  { kind: 'life', instances: 2 },
] as const;

/** A point as it was measured in one turn. */
interface Turn {
  readonly perSecond: number;
  readonly cores: number;
  /** Writes a commit. */
  readonly batch: number;
  /** Processor time of services and backends an email, in microseconds. */
  readonly cpu: number;
}

/**
 * Service times at low load, what the simulation makes of them, and what one and two instances then come to,
 * in turns. Processor time that others take is counted out, so that other work on the machine blurs the
 * comparison and does not tilt it. It fails where the prediction is a fifth off.
 */
export const capacity: Section = {
  name: 'capacity',
  async run(bench) {
    const url = await bench.database('bench_capacity');
    const metricsPort = await freePort();
    await using first = await bench.service(url, { METRICS_PORT: String(metricsPort) });
    await using second = await bench.service(url);
    const instances = [first, second];
    await using stack = new AsyncDisposableStack();
    const sql = stack.adopt(postgres(url, { max: 1, onnotice: () => {} }), (own) => own.end());
    await sql.unsafe('alter system set track_wal_io_timing = on');
    await sql.unsafe('select pg_reload_conf()');
    bench.say('Warming up …');
    for (const { port } of instances) await wholeLives(url, [port], 64, WARM_UP);

    const count = Math.min(bench.scale.emails, MOST_EMAILS);
    const looks: Look[] = [];
    const turns = POINTS.map((): Turn[] => []);
    const server = timeOfServer(bench.serverPid);
    const written = await emailsIn(sql);
    for (let turn = 1; turn <= TURNS; turn++) {
      bench.say(`Service times at low load, ${turn} of ${TURNS} …`);
      const look = await lookAtLowLoad({
        service: first,
        metricsPort,
        instances,
        postgres: bench.serverPid,
        sql,
      });
      looks.push(look);
      bench.say(`One and two instances at full load, ${turn} of ${TURNS} …`);
      for (const [n, point] of [...POINTS.entries()].toSorted(([a], [b]) => (turn % 2 ? a - b : b - a))) {
        const used = instances.slice(0, point.instances);
        const meter = meterCores(bench, used);
        const before = await batchesOf(metricsPort);
        const perSecond = await rateOf(url, point.kind, used, count);
        const batches = ((await batchesOf(metricsPort)) - before) * point.instances;
        const { cores, cpu } = meter(look.kernel * count);
        const batch = (count * (point.kind === 'life' ? 2 : 1)) / batches;
        turns[n]?.push({ perSecond, cores, batch, cpu: cpu / count });
      }
    }
    const spent = timeOfServer(bench.serverPid);
    const background = spent.all - server.all - (spent.backends - server.backends);
    const times = timesOf(looks);
    const compared = POINTS.map((point, n) => compare(times, point, turns[n] ?? [], count));
    bench.keep({
      times,
      compared,
      background: Math.max(0, background) / ((await emailsIn(sql)) - written),
      diskPerSecond: writtenPerSecond(bench.cluster.data),
    });
    bench.remark(printCompared(compared));
    const off = compared.filter(
      ({ predicted, measured }) => Math.abs(predicted.perSecond / measured.perSecond - 1) > TOLERANCE,
    );
    if (off.length > 0) {
      bench.say(`The prediction is more than ${TOLERANCE * 100} % off.`);
      process.exitCode = 1;
    }
    // Its table says more than rows of the common one.
    return [];
  },
};

const emailsIn = async (sql: postgres.Sql): Promise<number> =>
  (await sql<{ n: number }[]>`select count(*)::int as n from emails`)[0]?.n ?? 0;

async function rateOf(
  url: string,
  kind: Compared['kind'],
  services: readonly { readonly port: number }[],
  count: number,
): Promise<number> {
  const ports = services.map(({ port }) => port);
  if (kind === 'life') return (await wholeLives(url, ports, CONNECTIONS, count)).perSecond;
  const begun = performance.now();
  const body = { ...EMAIL, scheduledAt: IN_A_WEEK };
  await Promise.all(
    ports.map((port) =>
      allAccepted(
        preparePost(port, '/v1/emails', TEST_KEY, body),
        CONNECTIONS / ports.length,
        count / ports.length,
      ),
    ),
  );
  return (count * 1_000) / (performance.now() - begun);
}

/** The medians of all turns; each was predicted with the cores that were there in that turn. */
function compare(
  times: ReturnType<typeof timesOf>,
  { kind, instances }: (typeof POINTS)[number],
  turns: readonly Turn[],
  emails: number,
): Compared {
  const all = availableParallelism();
  const simulated = turns.map(({ cores }) =>
    simulate(times, {
      kind,
      instances,
      emails,
      connections: CONNECTIONS,
      machines: { together: all, others: all - cores },
    }),
  );
  const middle = (of: (turn: Turn) => number) => median(turns.map(of));
  const ratios = turns.map(({ perSecond }, n) => (simulated[n]?.perSecond ?? 0) / perSecond);
  const measured = middle(({ perSecond }) => perSecond);
  return {
    kind,
    instances,
    connections: CONNECTIONS,
    ratios,
    predicted: { perSecond: measured * median(ratios), ...middleOf(simulated) },
    measured: { perSecond: measured, ...middleOf(turns) },
    cores: middle(({ cores }) => cores),
  };
}

const middleOf = (points: readonly { readonly batch: number; readonly cpu: number }[]) => ({
  batch: median(points.map(({ batch }) => batch)),
  cpu: median(points.map(({ cpu }) => cpu)),
});

/**
 * Measures how many cores everything left that is not ours, and the processor time of these services and of
 * the backends.
 */
function meterCores(bench: Workbench, services: readonly { readonly pid: number }[]) {
  const read = () => {
    const { user, system } = process.cpuUsage();
    const { busy, interrupts } = machineTime();
    return {
      busy,
      interrupts,
      at: performance.now() * 1_000,
      client: user + system,
      cpu: services.reduce(
        (sum, { pid }) => sum + timeOf(pid).process,
        timeOfServer(bench.serverPid).backends,
      ),
    };
  };
  const before = read();
  return (packetsUs: number): { readonly cores: number; readonly cpu: number } => {
    const after = read();
    const of = (name: keyof typeof before) => after[name] - before[name];
    const others =
      Math.max(0, of('busy') - of('cpu') - of('client')) + Math.max(0, of('interrupts') - packetsUs);
    return { cores: availableParallelism() - others / of('at'), cpu: of('cpu') };
  };
}
