export interface RecordStatus {
  /** The name of the record within its domain. */
  readonly slot: string;
  /** The fingerprint of the value to be set: once another value is to be set, this status no longer holds. */
  readonly fingerprint: string;
  readonly status: 'pending' | 'verified' | 'failed';
  /** The values that DNS has instead, or as well. */
  readonly found: readonly string[];
  /** A sentence; null when nothing is wrong. */
  readonly error: string | null;
}

/**
 * The result of a check over the required records. `missing`: some are not there yet, none is wrong.
 * `unanswered`: DNS (or the provider) did not answer, so the check proves nothing.
 */
export type Verdict = 'verified' | 'missing' | 'wrong' | 'unanswered';

/** New DKIM keys of a domain: the values to publish, and the private keys, sealed. */
export interface NextKeys {
  readonly selector: string;
  readonly rsaValue: string;
  readonly ed25519Value: string;
  readonly sealedRsa: string;
  readonly sealedEd25519: string;
}

/** The context of a domain. Names and keys lie in its row. Times are epoch milliseconds. */
export interface DomainContext {
  /** The time of the last event, from which delays count. */
  readonly at: number;
  /** True when it needs no proof: its name cannot exist, and no mail leaves from it. */
  readonly exempt: boolean;
  /** Number of the latest check that was ordered; its outcome must carry it. */
  readonly attempt: number;
  /** The time that the check under way was ordered; null without one. */
  readonly checkingSince: number | null;
  /** The time that it was added, proven, or first failed a check: the longer ago, the rarer the checks. */
  readonly since: number;
  /** The time that DNS first contradicted the proof; null while it has not. */
  readonly refutedSince: number | null;
  readonly verifiedAt: number | null;
  readonly lastCheckedAt: number | null;
  /** The time that new keys were requested whose records are still awaited; null without a rotation. */
  readonly rotatingSince: number | null;
  readonly records: readonly RecordStatus[];
  readonly openTracking: boolean;
  readonly clickTracking: boolean;
  /**
   * When a client changed it last; of one that was stored by an earlier version and not changed since,
   * undefined.
   */
  readonly changedAt?: number;
}

export type DomainInput = Pick<DomainContext, 'at' | 'exempt' | 'records' | 'openTracking' | 'clickTracking'>;

/** The warm-up of a domain on a transport. */
export interface WarmUp {
  readonly provider: string;
  /** ISO 8601; the day that it lies in, in UTC, is the first. */
  readonly startedAt: string;
  /** The most recipients on each day; after the last there is no limit. */
  readonly perDay: readonly number[];
}

export type DomainEvent =
  /** A client asks for a check now. */
  | { readonly type: 'check.requested'; readonly at: number }
  /** DNS has been asked for every record. */
  | {
      readonly type: 'check.completed';
      readonly at: number;
      readonly attempt: number;
      readonly verdict: Verdict;
      readonly records: readonly RecordStatus[];
      /** The selector of new keys whose records were found: they sign from now on. */
      readonly switchTo?: string;
    }
  /** A client asks for new DKIM keys. The old ones sign until the records of the new ones are found. */
  | { readonly type: 'rotation.requested'; readonly at: number; readonly keys: NextKeys }
  /** A client changes the default tracking, or the transport of its mail. */
  | {
      readonly type: 'settings.changed';
      readonly at: number;
      readonly openTracking?: boolean;
      readonly clickTracking?: boolean;
      /** The new transport; null for the default one. */
      readonly provider?: string | null;
      /** The transports that take over while that one is down, in this order. */
      readonly fallbacks?: readonly string[];
      /** One entry for each transport on which the domain is warmed up. */
      readonly warmUps?: readonly WarmUp[];
      /**
       * The `changedAt` that the client has seen; null for one that was never changed. Without it the request
       * applies to any version.
       */
      readonly seenAt?: number | null;
    }
  /** A client removes the domain for good. */
  | { readonly type: 'remove.requested'; readonly at: number };

export type CheckCompleted = Extract<DomainEvent, { type: 'check.completed' }>;
