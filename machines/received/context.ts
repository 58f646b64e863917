/** The reason why a message is not posted any more. */
export const RECEIVED_STOPS = [
  'route_deleted',
  'route_keeps',
  'content_expired',
  'too_large',
  'no_target',
] as const;
export type ReceivedStop = (typeof RECEIVED_STOPS)[number];

/**
 * The context of a received message. The message itself and the answers of its receiver lie elsewhere. Times
 * are epoch milliseconds.
 */
export interface ReceivedContext {
  /** The time of the last event, from which delays count. */
  readonly at: number;
  /** The time after which an attempt without an outcome counts as lost. */
  readonly leaseMs: number;
  /** True when its route only keeps what it takes. */
  readonly isKept: boolean;
  /** The number of the latest attempt that was ordered. Every outcome must carry it. */
  readonly attempt: number;
  /** The retries since the first attempt, or since a client last asked for it again. */
  readonly retryCount: number;
  /** The time that the latest attempt with an outcome began. */
  readonly attemptedAt: number | null;
  readonly stoppedBy: ReceivedStop | null;
  /** The number of times that a client has asked for it again; absent before. */
  readonly round?: number;
  /** The email that carries it to the targets of its route; absent where none does. */
  readonly forwardedAs?: string;
}

export type ReceivedInput = Pick<ReceivedContext, 'at' | 'leaseMs' | 'isKept'>;

/** The outcome of one attempt. */
export interface ReceivedAttempt {
  readonly at: number;
  readonly attempt: number;
  readonly attemptedAt: number;
  /** 0 when there was no answer. */
  readonly httpStatus: number;
  readonly responseBody: string;
  readonly durationMs: number;
  /** The reason for an incomplete answer; null for a complete one. */
  readonly error: string | null;
}

export type ReceivedEvent =
  /** The receiver answered 2xx, whole and in time. */
  | ({ readonly type: 'attempt.succeeded' } & ReceivedAttempt)
  /** Anything else. */
  | ({ readonly type: 'attempt.failed' } & ReceivedAttempt)
  /** An email to the targets of its route is accepted. */
  | {
      readonly type: 'message.forwarded';
      readonly at: number;
      readonly attempt: number;
      readonly emailId: string;
    }
  /** The attempt was not begun, since its process stops: it is another one's. */
  | { readonly type: 'attempt.declined'; readonly at: number; readonly attempt: number }
  /**
   * Its route is deleted or posts no more, the message is gone, or it cannot be forwarded; nothing more is
   * posted.
   */
  | {
      readonly type: 'posting.stopped';
      readonly at: number;
      readonly attempt: number;
      readonly reason: ReceivedStop;
    }
  /** A client asks for it again, after any outcome; retries start over. */
  | { readonly type: 'redeliver.requested'; readonly at: number };
