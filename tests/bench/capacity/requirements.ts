import { COMMIT_LIMITS } from '../../../src/platform/async/batcher.ts';
import type { Figures, Weighed } from '../figures.ts';
import type { CpuPerItem } from '../table.ts';
import { spentBy } from './costs.ts';
import type { ServiceTimes } from './times.ts';

/**
 * The share of its machine that an installation may use in the long run: the rest is for peaks and for a
 * failover.
 */
export const USED = 0.6;
/** The figures that were not measured here. */
export const LARGEST_SERVER = 64;
export const LINK_PER_SECOND = 10e9 / 8;

/** The cost of an email of one kind; processor time in microseconds. */
export interface Demand extends Weighed {
  readonly service: number;
  readonly mainThread: number;
  readonly postgres: number;
  /** Commits an email. */
  readonly commits: number;
}

/** Writes a commit, as they were measured with one instance. */
const batchOf = ({ compared }: Required<Figures>): number =>
  compared.find(({ kind, instances }) => kind === 'life' && instances === 1)?.measured.batch ?? 1;

/** The whole life of test mail, at the batches that were measured. */
export function demandOfLife(figures: Required<Figures>): Demand {
  const { times, weights, background } = figures;
  const batch = batchOf(figures);
  const service = spentBy(times.life.service, 2 / batch, 1);
  return {
    ...weights.life,
    service,
    mainThread: service * times.mainThread,
    postgres: spentBy(times.life.postgres, 2 / batch, 1) + background,
    commits: 2 / batch,
  };
}

/** Live mail to an SMTP server, as it was measured at full load. */
export function demandOfLive(figures: Required<Figures>, cpu: CpuPerItem): Demand {
  const { times, weights } = figures;
  return {
    ...weights.live,
    service: cpu.service,
    mainThread: cpu.service * times.mainThread,
    postgres: cpu.postgres,
    // Beside an email's insert and its outcome, its beginning is durable.
    commits: 3 / batchOf(figures),
  };
}

/** The needs of a rate, and its distance from each bound of one PostgreSQL. */
export interface Requirements {
  readonly perSecond: number;
  readonly instances: number;
  readonly serviceCores: number;
  readonly postgresCores: number;
  readonly walPerSecond: number;
  readonly tablesPerDay: number;
  readonly commitsPerSecond: number;
  readonly networkPerSecond: number;
  readonly next: Bound;
}

/** One bound, and how much of it is in use; above 1 it does not hold. */
export interface Bound {
  readonly what: string;
  readonly used: number;
}

/** The needs of an installation for such a rate, nothing of it used for more than `USED`. */
export function requirements(perSecond: number, demand: Demand, diskPerSecond: number): Requirements {
  const cores = (us: number) => (perSecond * us) / 1e6 / USED;
  const walPerSecond = perSecond * demand.wal;
  const networkPerSecond = perSecond * demand.database;
  const postgresCores = cores(demand.postgres);
  const bounds: readonly Bound[] = [
    { what: 'processors of PostgreSQL', used: postgresCores / LARGEST_SERVER },
    { what: 'WAL', used: walPerSecond / USED / diskPerSecond },
    { what: 'network of PostgreSQL', used: networkPerSecond / USED / LINK_PER_SECOND },
  ];
  return {
    perSecond,
    instances: Math.ceil(cores(demand.mainThread)),
    serviceCores: cores(demand.service),
    postgresCores,
    walPerSecond,
    tablesPerDay: perSecond * demand.tables * 86_400,
    commitsPerSecond: perSecond * demand.commits,
    networkPerSecond,
    next: bounds.reduce((most, bound) => (bound.used > most.used ? bound : most)),
  };
}

/** The most that each part could do of whole lives by itself, emails a second. */
export function bounds(times: ServiceTimes, demand: Demand, diskPerSecond: number) {
  const full = COMMIT_LIMITS.batchItems;
  const outcome = (side: 'service' | 'postgres') => ({
    fixed: times.life[side].fixed,
    each: Math.max(0, times.life[side].each - times.accepted[side].each),
  });
  const round = spentBy(outcome('postgres'), 1, full) + spentBy(outcome('service'), 1, full) + times.flush;
  return {
    thread: 1e6 / demand.mainThread,
    committer: (full * 1e6) / round,
    postgresCore: 1e6 / demand.postgres,
    wal: diskPerSecond / demand.wal,
    network: LINK_PER_SECOND / demand.database,
  };
}
