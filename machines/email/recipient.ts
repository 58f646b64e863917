/** The closed list of email events that the API shows. */
export const EMAIL_EVENT_TYPES = [
  'sent',
  'delivered',
  'opened',
  'clicked',
  'bounced',
  'complained',
  'unsubscribed',
] as const;
export type EmailEventType = (typeof EMAIL_EVENT_TYPES)[number];

/** The reasons that a recipient, or the email, ended as failed. */
export const FAILURE_REASONS = ['bounced', 'suppressed', 'expired', 'rejected', 'domain_removed'] as const;
export type FailureReason = (typeof FAILURE_REASONS)[number];

/**
 * Why nothing more is sent to a recipient: an act by which the person or the workspace ended it
 * (src/sending/suppressions/acts.ts), or the campaign that leaves them out.
 */
export const WITHHELD_REASONS = [
  'forgotten',
  'complained',
  'bounced',
  'unsubscribed',
  'suppressed',
  'removed',
  'invalid',
  'excluded',
  'cancelled',
] as const;
export type WithheldReason = (typeof WITHHELD_REASONS)[number];

/** The recorded opens or clicks of a recipient. */
export interface Visits {
  readonly count: number;
  /** The time and link of the last one. */
  readonly at: number;
  readonly link: number;
}

/** The progress of one recipient. It holds no address: the context carries no personal data. */
export interface RecipientProgress {
  readonly status: 'pending' | 'sent' | 'delivered' | 'failed';
  readonly lastEvent: EmailEventType | null;
  readonly reason: FailureReason | null;
  /** The simulated outcome of this recipient; null for live mail. */
  readonly simulate: string | null;
  /**
   * True when an attempt ended without knowledge of whether the message was accepted. It remains true after
   * the end of the email.
   */
  readonly inDoubt: boolean;
  /**
   * The attempt that the doubt is about; null once that has ended, absent where there was none or an earlier
   * version noted it.
   */
  readonly doubted?: number | null;
  /** Why nothing more was sent, where the reason is `suppressed`. */
  readonly withheld?: WithheldReason;
  /** Events that are recorded once and have been; absent for nearly every recipient. */
  readonly once?: readonly EmailEventType[];
  /** True once a mail has come back that is no report that can be read: only the first is noted. */
  readonly hasReturned?: true;
  /** The visits by type of event; absent until the first open or click. */
  readonly visits?: Readonly<Partial<Record<EmailEventType, Visits>>>;
}

/** The outcome of one recipient in an attempt, by the transport or the simulator. */
export interface RecipientOutcome {
  /** Index into the context's recipients. */
  readonly recipient: number;
  /**
   * `suppressed` and `removed` are of those that nothing was sent to, for themselves or since the sending
   * domain is gone.
   */
  readonly outcome: 'accepted' | 'deferred' | 'refused' | 'suppressed' | 'removed' | 'unknown';
  /** The reason of a refusal; read for 'refused' only. */
  readonly reason?: Exclude<FailureReason, 'suppressed' | 'domain_removed'>;
  /** True when the refusal proves the address bad for good; left out, a bounce does. */
  readonly suppresses?: boolean;
  /** The `data` of the recorded event. */
  readonly data: Readonly<Record<string, unknown>>;
}

/** A mail that came back for a recipient, and is no report that can be read. */
export interface ReturnedMail {
  readonly recipient: number;
  readonly outcome: 'returned';
  readonly data: { readonly message: string };
}

/** A note about a recipient that leaves no event. */
export type Note = RecipientOutcome | ReturnedMail;

/** A fact to be written: one event of one recipient. */
export interface RecordedEvent {
  readonly type: EmailEventType;
  readonly recipient: number;
  readonly at: number;
  readonly data: Readonly<Record<string, unknown>>;
}
