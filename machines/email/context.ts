import type { EmailEventType, FailureReason, RecipientOutcome, RecipientProgress } from './recipient.ts';
import type { OutcomeScript, ScriptProgress } from './script.ts';

/** The context of an email: small plain JSON without bodies and addresses. Times are epoch milliseconds. */
export interface EmailContext {
  /** The time of the last event, from which delays count. */
  readonly at: number;
  readonly livemode: boolean;
  /**
   * The test clock that it lives by, and whose time all others but `acceptedAt` are; absent for the real
   * time.
   */
  readonly testClockId?: string;
  /** The outcomes and reports of a test email, where its sender has scripted them; absent otherwise. */
  readonly script?: OutcomeScript;
  /** The progress of the script; absent before its first report. */
  readonly scripted?: ScriptProgress;
  readonly acceptedAt: number;
  readonly scheduledAt: number | null;
  /** False while the simulator is at its limit: a test email then waits in `queued`. */
  readonly admitted: boolean;
  /** The number of the latest attempt that was begun. Every outcome must carry it. */
  readonly attempt: number;
  /**
   * The random id of the attempt whose outcome is open, since two instances may try to begin the same number,
   * and one of them begins it. Null while no outcome is expected: before the first attempt, and once the
   * latest has an outcome or was not carried out.
   */
  readonly begunBy: string | null;
  /** The time after which an attempt without an outcome counts as lost. */
  readonly leaseMs: number;
  /** The time that temporary failures are retried, from the first attempt. */
  readonly patienceMs: number;
  /** When the first attempt was made: patience counts from it. */
  readonly firstAttemptAt: number | null;
  /**
   * The moment that its copies bear (`dateOf`), where that is another one: the first attempts had nothing to
   * send, since its domain could not. Null until one has; absent where the first attempt had.
   */
  readonly datedAt?: number | null;
  /** The limit that it waited for last, or waits for still; absent when it never had to. */
  readonly postponed?: Postponement;
  /**
   * The part of a warm-up's day that its recipients have; absent or null before a session was opened for them
   * there.
   */
  readonly counted?: WarmUpUse | null;
  /** The waits before attempt 2, 3, …; the last one repeats. */
  readonly backoffMs: readonly number[];
  /**
   * True when a recipient whose outcome is unknown is never tried again, so that no recipient gets two
   * copies.
   */
  readonly holdsDoubt: boolean;
  readonly recipients: readonly RecipientProgress[];
  readonly failureReason: FailureReason | null;
  readonly lastEvent: EmailEventType | null;
  readonly sentAt: number | null;
  readonly deliveredAt: number | null;
}

/** Why an attempt of live mail had to wait before it could begin. */
export interface Postponement {
  /** When it is tried again: no sooner is there room. */
  readonly until: number;
  /** The warm-up of its domain on this transport allows no more that day. */
  readonly transport: string;
  /** So many recipients that day. */
  readonly perDay: number;
}

/** The part that an email has of a day, where its domain is warmed up: later attempts take no further one. */
export interface WarmUpUse {
  /** The attempt that took it. */
  readonly attempt: number;
  readonly transport: string;
}

export type EmailInput = Pick<
  EmailContext,
  'at' | 'livemode' | 'scheduledAt' | 'admitted' | 'leaseMs' | 'patienceMs' | 'backoffMs'
> & {
  readonly holdsDoubt?: boolean;
  readonly testClockId?: string;
  readonly script?: OutcomeScript;
  /** `at` when left out. */
  readonly acceptedAt?: number;
  readonly recipients: readonly { readonly simulate: string | null }[];
};

export type EmailEvent =
  /** A client cancels a scheduled email. */
  | { readonly type: 'cancel.requested'; readonly at: number }
  /** A client moves a scheduled email to another time. */
  | { readonly type: 'reschedule.requested'; readonly at: number; readonly scheduledAt: number }
  /** The campaign that it is of was cancelled: what has not begun to leave never does. */
  | { readonly type: 'campaign.ended'; readonly at: number }
  /**
   * A process is ready to open a session for the next attempt of live mail. None is opened before this is
   * durable.
   */
  | {
      readonly type: 'attempt.begun';
      readonly at: number;
      readonly attempt: number;
      readonly by: string;
      /** The transport that its domain is warmed up on, where the attempt has taken a part of the day. */
      readonly counted?: string;
      /**
       * When its copies were made ready, which bear that moment unless an earlier attempt had some; absent
       * where it has none.
       */
      readonly readyAt?: number;
    }
  /**
   * A limit leaves no room for the next attempt of live mail. Nothing was opened for it, and no attempt is
   * counted.
   */
  | {
      readonly type: 'attempt.postponed';
      readonly at: number;
      readonly attempt: number;
      readonly because: Postponement;
    }
  /** The transport or the simulator reports on one attempt, recipient by recipient. */
  | {
      readonly type: 'attempt.completed';
      readonly at: number;
      readonly attempt: number;
      /** The `by` of the attempt's beginning; left out by the simulator. */
      readonly by?: string;
      readonly outcomes: readonly RecipientOutcome[];
      /**
       * The part of the day that the attempt had taken went back: another transport has asked all of them.
       */
      readonly uncounted?: true;
    }
  /** The attempt was not carried out, and will not be. */
  | {
      readonly type: 'attempt.declined';
      readonly at: number;
      readonly attempt: number;
      readonly by?: string;
    }
  /** A report about one recipient came in after the message had left. */
  | {
      readonly type: 'report.received';
      readonly at: number;
      readonly report: {
        readonly type: Exclude<EmailEventType, 'sent'>;
        readonly recipient: number;
        /** For 'bounced': whether the address is bad for good. */
        readonly permanent?: boolean;
        /** For 'bounced': true when temporary failures lasted until the other server gave up. */
        readonly expired?: true;
        /** True when the address gets no more mail; left out when the type alone decides it. */
        readonly suppresses?: boolean;
        /** A number for the link that was followed, by which repeated visits are recognised. */
        readonly link?: number;
        readonly data: Readonly<Record<string, unknown>>;
      };
    }
  /** A mail came back to the return path of one recipient, and is no report that can be read. */
  | {
      readonly type: 'mail.returned';
      readonly at: number;
      readonly recipient: number;
      readonly subject: string;
    };

/** The beginning of an attempt of live mail. */
export type AttemptBegun = Extract<EmailEvent, { type: 'attempt.begun' }>;
/** An attempt that has to wait for a limit. */
export type AttemptPostponed = Extract<EmailEvent, { type: 'attempt.postponed' }>;
export type AttemptCompleted = Extract<EmailEvent, { type: 'attempt.completed' }>;
/** An attempt that was not carried out. */
export type AttemptDeclined = Extract<EmailEvent, { type: 'attempt.declined' }>;
/** A mail that came back, and is no report that can be read. */
export type MailReturned = Extract<EmailEvent, { type: 'mail.returned' }>;
/** A report about one recipient. */
export type ReportReceived = Extract<EmailEvent, { type: 'report.received' }>;
