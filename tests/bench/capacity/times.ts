import type { Cost, CostPoint } from './costs.ts';

/** What the two sides spend on one write of an email. */
export interface WriteCost {
  readonly service: Cost;
  readonly postgres: Cost;
}

/** What was measured at low load. Microseconds, of a processor unless it says otherwise. */
export interface ServiceTimes {
  /** An accepted email that waits: one write. */
  readonly accepted: WriteCost;
  /** A whole life: two writes. `fixed` is that of each of them, `each` that of the email. */
  readonly life: WriteCost;
  /** What the client of the load spends on an email. */
  readonly client: number;
  /** What the kernel spends on an email's packets, beside all processes. */
  readonly kernel: number;
  /** How much of the service's time its main thread takes; helpers (collector, compiler) take the rest beside it. */
  readonly mainThread: number;
  /** What the service and PostgreSQL spend in a second when nothing is asked of them, for each instance. */
  readonly idle: { readonly service: number; readonly postgres: number };
  /** How long a flush of the WAL takes, by the clock. */
  readonly flush: number;
}

/** What one look at low load came to; of several the medians are taken. */
export interface Look extends Omit<ServiceTimes, 'accepted' | 'life'> {
  readonly accepted: readonly Point[];
  readonly life: readonly Point[];
}

/** The two sides at one size of bursts. */
export interface Point {
  readonly service: CostPoint;
  readonly postgres: CostPoint;
}
