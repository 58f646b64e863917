/** How one DNS record stands. */
export interface RecordStanding {
  /** Which of the domain's records it is. */
  readonly slot: string;
  /** Of what was to be set: once something else is to be set, this standing says nothing of it. */
  readonly fingerprint: string;
  readonly status: 'pending' | 'verified' | 'failed';
  /** What is there instead, or as well. */
  readonly found: readonly string[];
  /** A sentence; null when nothing is wrong. */
  readonly error: string | null;
}

/**
 * What a check came to, over the records that are required. `missing`: some are not there yet, none is wrong.
 * `unanswered`: DNS (or the provider) said nothing, so nothing may be concluded.
 */
export type Verdict = 'verified' | 'missing' | 'wrong' | 'unanswered';

/** New DKIM keys of a domain: what is to be published of them, and the private halves, sealed. */
export interface NextKeys {
  readonly selector: string;
  readonly rsaValue: string;
  readonly ed25519Value: string;
  readonly sealedRsa: string;
  readonly sealedEd25519: string;
}

/** What a domain's machine remembers. Names and keys lie in its row. Times are epoch milliseconds. */
export interface DomainContext {
  /** When the last event happened; delays count from here. */
  readonly at: number;
  /** Nothing leaves, and the name cannot exist: there is nothing to prove. */
  readonly exempt: boolean;
  /** Number of the latest check that was ordered; its outcome must carry it. */
  readonly attempt: number;
  /** When the check under way was ordered; null when none is. */
  readonly checkingSince: number | null;
  /** When it was added, proven, or first in trouble: the longer ago, the rarer the re-checks. */
  readonly since: number;
  /** When DNS first contradicted what had been proven; null while it has not. */
  readonly refutedSince: number | null;
  readonly verifiedAt: number | null;
  readonly lastCheckedAt: number | null;
  /** When new keys were asked for whose records are awaited; null while none are. */
  readonly rotatingSince: number | null;
  readonly records: readonly RecordStanding[];
  readonly openTracking: boolean;
  readonly clickTracking: boolean;
}

/** What is known of a domain when it is added. */
export type DomainInput = Pick<DomainContext, 'at' | 'exempt' | 'records' | 'openTracking' | 'clickTracking'>;

export type DomainEvent =
  /** Somebody wants to know now. */
  | { readonly type: 'check.requested'; readonly at: number }
  /** DNS has been asked for every record. */
  | {
      readonly type: 'check.completed';
      readonly at: number;
      readonly attempt: number;
      readonly verdict: Verdict;
      readonly records: readonly RecordStanding[];
      /** The selector of new keys whose records are there: they sign from now on. */
      readonly switchTo?: string;
    }
  /** A client wants other DKIM keys. They sign once their records are seen, and the old ones until then. */
  | { readonly type: 'rotation.requested'; readonly at: number; readonly keys: NextKeys }
  /** A client changes what is tracked by default, or the way that mail leaves by. */
  | {
      readonly type: 'settings.changed';
      readonly at: number;
      readonly openTracking?: boolean;
      readonly clickTracking?: boolean;
      /** Another way than before; null for the default one. */
      readonly provider?: string | null;
    }
  /** A client removes the domain for good. */
  | { readonly type: 'remove.requested'; readonly at: number };

/** A check's outcome. */
export type CheckCompleted = Extract<DomainEvent, { type: 'check.completed' }>;
