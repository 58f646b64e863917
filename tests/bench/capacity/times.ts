import type { Cost, CostPoint } from './costs.ts';

/** The time of both sides for one write of an email. */
export interface WriteCost {
  readonly service: Cost;
  readonly postgres: Cost;
}

/** The measurement at low load. Microseconds, of a processor unless a member says otherwise. */
export interface ServiceTimes {
  /** An accepted email that waits: one write. */
  readonly accepted: WriteCost;
  /** A whole life: two writes. `fixed` is that of each of them, `each` that of the email. */
  readonly life: WriteCost;
  /** Time of the load's client for an email. */
  readonly client: number;
  /** Time of the kernel for an email's packets, beside all processes. */
  readonly kernel: number;
  /** The main thread's share of the service's time; helpers (collector, compiler) take the rest beside it. */
  readonly mainThread: number;
  /** Time of the service and of PostgreSQL in a second without requests, for each instance. */
  readonly idle: { readonly service: number; readonly postgres: number };
  /** The time of a flush of the WAL, by the clock. */
  readonly flush: number;
}

/** The result of one look at low load; of several the medians are taken. */
export interface Look extends Omit<ServiceTimes, 'accepted' | 'life'> {
  readonly accepted: readonly Point[];
  readonly life: readonly Point[];
}

/** The two sides at one size of bursts. */
export interface Point {
  readonly service: CostPoint;
  readonly postgres: CostPoint;
}
