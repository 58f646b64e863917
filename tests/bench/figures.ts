import type { ServiceTimes } from './capacity/times.ts';

/** Octets that an email writes and sends. */
export interface Weighed {
  readonly wal: number;
  /** Of tables with their indexes. */
  readonly tables: number;
  /** Between the client and the service, both ways. */
  readonly http: number;
  /** Between the service and PostgreSQL, both ways. */
  readonly database: number;
}

/** The result at full load. */
export interface LoadPoint {
  /** Emails a second. */
  readonly perSecond: number;
  /** Writes a commit. */
  readonly batch: number;
  /** Processor time of instances and backends an email, in microseconds. */
  readonly cpu: number;
}

/** One measured point and what the simulation says of it. */
export interface Compared {
  readonly kind: 'accepted' | 'life';
  readonly instances: number;
  readonly connections: number;
  readonly predicted: LoadPoint;
  readonly measured: LoadPoint;
  /** Cores that other processes left. */
  readonly cores: number;
  /** Predicted by measured, each turn, in order. */
  readonly ratios: readonly number[];
}

/** The input of other programs (scripts/capacity.ts): stored in results.json beside the rows. */
export interface Figures {
  readonly weights?: Readonly<Record<'accepted' | 'life' | 'live', Weighed>>;
  readonly times?: ServiceTimes;
  readonly compared?: readonly Compared[];
  /** Time of the server for an email beside its backends (checkpoints, autovacuum), in microseconds. */
  readonly background?: number;
  /** Octets a second that the disk under the WAL takes, each 16 MB flushed. */
  readonly diskPerSecond?: number;
}
