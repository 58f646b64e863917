/** The reason that a campaign does not send on. Only a client resumes it. */
export type PausedReason =
  | 'manual'
  | 'quota_exceeded'
  | 'bounce_rate'
  | 'complaint_rate'
  | 'canary'
  | 'sender_unverified';

/** The reason that a campaign could not start. */
export type CampaignFailure =
  | 'sender_unverified'
  | 'audience_gone'
  | 'audience_empty'
  | 'content_refused'
  | 'sender_refused';

/**
 * The stages of a canary: `first` gives out the first share, `holding` awaits its outcomes, `over` lets the
 * rest follow. A campaign without a canary is `over` from the start.
 */
export type CanaryStage = 'first' | 'holding' | 'over';

/**
 * The context of a campaign. Its settings, its content and its recipients lie in separate tables. Times are
 * epoch milliseconds.
 */
export interface CampaignContext {
  /** The time of the last event, from which delays count. */
  readonly at: number;
  /** The time for which a turn of work may be silent before it counts as lost. */
  readonly leaseMs: number;
  /** The number of the latest ordered turn of work; its reports must carry it. */
  readonly attempt: number;
  /** The wait before the next turn; null while a turn is under way. */
  readonly waitMs: number | null;
  /** The last contact up to which the emails are given out. It only shortens the search for the next ones. */
  readonly place: string;
  readonly canary: CanaryStage;
  readonly hasCanary: boolean;
  /** Until when the outcomes of a canary are awaited; null unless it holds. */
  readonly holdsUntil: number | null;
  readonly pausedReason: PausedReason | null;
  readonly failure: CampaignFailure | null;
  readonly scheduledAt: number | null;
  readonly startedAt: number | null;
  readonly completedAt: number | null;
  /** When it last began to send on, from which the rates of the guards count; null before. */
  readonly resumedAt: number | null;
  /** Everybody in the frozen audience; null before it is frozen. */
  readonly recipientCount: number | null;
}

export interface CampaignInput {
  readonly at: number;
  readonly leaseMs: number;
  readonly hasCanary: boolean;
}

interface OfTurn {
  readonly at: number;
  readonly attempt: number;
}

/** The audience is frozen, and the content is kept. */
export interface AudienceFrozen extends OfTurn {
  readonly type: 'audience.frozen';
  readonly total: number;
  /** Opaque to the machine. */
  readonly content: unknown;
}

/** A turn of work ends before the work does. */
export interface TurnEnded extends OfTurn {
  readonly type: 'turn.ended';
  readonly place: string;
  /** When there is work again, from `at` on; 0 is at once. */
  readonly waitMs: number;
  readonly canary: CanaryStage;
}

/** A client starts the campaign, now or at a time, or resumes it. */
export interface SendRequested {
  readonly type: 'send.requested';
  readonly at: number;
  /** Later than `at`; null is now. */
  readonly scheduledAt: number | null;
  /** The `at` of the campaign that the client has seen. Without it the request applies to any version. */
  readonly seenAt?: number;
}

/** A client changes what is to be sent. */
export interface SettingsChanged {
  readonly type: 'settings.changed';
  /** Later than `seenAt`, so that the next change that was decided on the same settings is recognised. */
  readonly at: number;
  /** The `at` of the campaign whose settings were read and changed. */
  readonly seenAt: number;
  readonly hasCanary: boolean;
  /** Opaque to the machine. */
  readonly settings: unknown;
}

export type CampaignEvent =
  | SettingsChanged
  | SendRequested
  /** A client stops it for a while. */
  | { readonly type: 'pause.requested'; readonly at: number }
  /** A client takes the time back at which it was to start. */
  | { readonly type: 'unschedule.requested'; readonly at: number }
  /** A client ends it. */
  | { readonly type: 'cancel.requested'; readonly at: number }
  /** A client removes it from sight. */
  | { readonly type: 'delete.requested'; readonly at: number }
  | AudienceFrozen
  /** It cannot start. */
  | (OfTurn & { readonly type: 'start.refused'; readonly failure: CampaignFailure })
  | TurnEnded
  /** No recipient waits any more. */
  | (OfTurn & { readonly type: 'recipients.exhausted' })
  /** The campaign must not continue. */
  | (OfTurn & { readonly type: 'stop.demanded'; readonly reason: Exclude<PausedReason, 'manual'> });
