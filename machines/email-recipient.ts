/** Everything that can happen to an email from outside: the closed list of the API. */
export const EMAIL_EVENT_TYPES = [
  'sent',
  'delivered',
  'opened',
  'clicked',
  'bounced',
  'complained',
  'unsubscribed',
] as const;
/** One of them. */
export type EmailEventType = (typeof EMAIL_EVENT_TYPES)[number];

/** Why a recipient, or the email, ended as failed. */
export const FAILURE_REASONS = ['bounced', 'suppressed', 'expired', 'rejected', 'domain_removed'] as const;
/** One of them. */
export type FailureReason = (typeof FAILURE_REASONS)[number];

/** How often a recipient opened the message, or clicked in it, as far as it was recorded. */
export interface Visits {
  readonly count: number;
  /** Of the last one: when it was, and to which link. */
  readonly at: number;
  readonly link: number;
}

/** How far one recipient has come. Addresses are not here: the context carries no personal data. */
export interface RecipientProgress {
  readonly status: 'pending' | 'sent' | 'delivered' | 'failed';
  readonly lastEvent: EmailEventType | null;
  readonly reason: FailureReason | null;
  /** What the simulator does with this recipient; null for live mail. */
  readonly simulate: string | null;
  /** An attempt ended without anybody knowing whether the message was taken; it stays so when patience runs out. */
  readonly inDoubt: boolean;
  /** What was learned and is not to be learned twice; absent for nearly everybody. */
  readonly once?: readonly EmailEventType[];
  /** By the type of event; absent until a link of the message is followed. */
  readonly visits?: Readonly<Partial<Record<EmailEventType, Visits>>>;
}

/** What a transport, or the simulator, says of one recipient after an attempt. */
export interface RecipientOutcome {
  /** Index into the context's recipients. */
  readonly recipient: number;
  readonly outcome: 'accepted' | 'deferred' | 'refused' | 'suppressed' | 'unknown';
  /** Why it was refused; read for 'refused' only. */
  readonly reason?: FailureReason;
  /** Whether the refusal proves the address bad for good; when left out, a bounce does. */
  readonly suppresses?: boolean;
  /** The `data` of the event that is recorded. */
  readonly data: Readonly<Record<string, unknown>>;
}

/** A fact to be written: one event of one recipient. */
export interface RecordedEvent {
  readonly type: EmailEventType;
  readonly recipient: number;
  readonly at: number;
  readonly data: Readonly<Record<string, unknown>>;
}
