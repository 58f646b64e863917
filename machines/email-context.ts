import type {
  EmailEventType,
  FailureReason,
  RecipientOutcome,
  RecipientProgress,
} from './email-recipient.ts';

/** What an email's machine remembers: small plain JSON, no bodies, no addresses. Times are epoch milliseconds. */
export interface EmailContext {
  /** When the last event happened; delays count from here. */
  readonly at: number;
  readonly livemode: boolean;
  readonly acceptedAt: number;
  readonly scheduledAt: number | null;
  /** False while the simulator has more to do than it can take: a test email then waits in `queued`. */
  readonly admitted: boolean;
  /** Number of the latest attempt that was begun; every outcome must carry it. */
  readonly attempt: number;
  /** Who began the latest attempt of live mail: a number alone could be that of another instance's attempt. */
  readonly begunBy: string | null;
  /** How long an attempt may stay without an outcome before it counts as lost. */
  readonly leaseMs: number;
  /** How long temporary failures are retried, from the first attempt. */
  readonly patienceMs: number;
  readonly firstAttemptAt: number | null;
  /** Waits before attempt 2, 3, …; the last one repeats. */
  readonly backoffMs: readonly number[];
  /** Whether a recipient whose outcome is unknown is never tried again: rather no copy than two. */
  readonly holdsDoubt: boolean;
  readonly recipients: readonly RecipientProgress[];
  readonly failureReason: FailureReason | null;
  readonly lastEvent: EmailEventType | null;
  readonly sentAt: number | null;
  readonly deliveredAt: number | null;
}

/** What is known of an email when it is accepted. */
export type EmailInput = Pick<
  EmailContext,
  'at' | 'livemode' | 'scheduledAt' | 'admitted' | 'leaseMs' | 'patienceMs' | 'backoffMs'
> & { readonly holdsDoubt?: boolean; readonly recipients: readonly { readonly simulate: string | null }[] };

export type EmailEvent =
  /** A client cancels a scheduled email. */
  | { readonly type: 'cancel.requested'; readonly at: number }
  /** A client moves a scheduled email to another time. */
  | { readonly type: 'reschedule.requested'; readonly at: number; readonly scheduledAt: number }
  /** A session can be had for the next attempt of live mail. None is opened before this is durable. */
  | {
      readonly type: 'attempt.begun';
      readonly at: number;
      readonly attempt: number;
      readonly by: string;
    }
  /** The transport or the simulator reports on one attempt, recipient by recipient. */
  | {
      readonly type: 'attempt.completed';
      readonly at: number;
      readonly attempt: number;
      /** As the attempt was begun; absent where it began by itself. */
      readonly by?: string;
      readonly outcomes: readonly RecipientOutcome[];
    }
  /** Nothing of the attempt was carried out, and nothing of it will be. */
  | {
      readonly type: 'attempt.declined';
      readonly at: number;
      readonly attempt: number;
      readonly by?: string;
    }
  /** Something was learned of one recipient after the message had left. */
  | {
      readonly type: 'report.received';
      readonly at: number;
      readonly report: {
        readonly type: Exclude<EmailEventType, 'sent'>;
        readonly recipient: number;
        /** Read for 'bounced': whether the address is bad for good. */
        readonly permanent?: boolean;
        /** Whether the person gets no more mail; left out where the type alone decides it. */
        readonly suppresses?: boolean;
        /** A number for the link that was followed, where that is how it was learned: anybody can follow it again. */
        readonly link?: number;
        readonly data: Readonly<Record<string, unknown>>;
      };
    };

/** The beginning of an attempt of live mail. */
export type AttemptBegun = Extract<EmailEvent, { type: 'attempt.begun' }>;
/** An attempt's outcome. */
export type AttemptCompleted = Extract<EmailEvent, { type: 'attempt.completed' }>;
/** An attempt that was not carried out. */
export type AttemptDeclined = Extract<EmailEvent, { type: 'attempt.declined' }>;
/** What was learned afterwards. */
export type ReportReceived = Extract<EmailEvent, { type: 'report.received' }>;
