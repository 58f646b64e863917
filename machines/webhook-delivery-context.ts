import type { StopReason } from './webhook-endpoint.ts';

/** What a delivery's machine remembers. What was sent and answered lies elsewhere. Times are epoch milliseconds. */
export interface WebhookDeliveryContext {
  /** When the last event happened; delays count from here. */
  readonly at: number;
  /** How long an attempt may stay without an outcome before it counts as lost. */
  readonly leaseMs: number;
  /** When the first attempt is due, where a replay has given it a turn; null for at once. */
  readonly turnAt: number | null;
  /** Number of the latest attempt that was ordered; every outcome must carry it. */
  readonly attempt: number;
  /** Retries since the first attempt, or since somebody last asked for the event again. */
  readonly retryCount: number;
  /** When the latest attempt that had an outcome began. */
  readonly attemptedAt: number | null;
  /** Set when it failed because its endpoint, or the event itself, went away. */
  readonly stoppedBy: StopReason | null;
}

/** What is known of a delivery when its event happens. */
export type WebhookDeliveryInput = Pick<WebhookDeliveryContext, 'at' | 'leaseMs' | 'turnAt'>;

/** What became of one attempt. */
export interface AttemptOutcome {
  readonly at: number;
  readonly attempt: number;
  readonly attemptedAt: number;
  /** 0 when there was no answer. */
  readonly httpStatus: number;
  readonly responseBody: string;
  readonly durationMs: number;
  /** Why there was no complete answer; null when there was. */
  readonly error: string | null;
  readonly webhookId: string;
  /** Whether the endpoint has counted failures: then a success is news to it. */
  readonly endpointIsFailing: boolean;
}

export type WebhookDeliveryEvent =
  /** The receiver answered 2xx, whole and in time. */
  | ({ readonly type: 'attempt.succeeded' } & AttemptOutcome)
  /** Anything else. */
  | ({ readonly type: 'attempt.failed' } & AttemptOutcome)
  /** The endpoint was disabled or deleted, or the event is gone; nothing more is sent. */
  | { readonly type: 'endpoint.stopped'; readonly at: number; readonly reason: StopReason }
  /** A client wants the event sent again, whatever became of it; retries start over. */
  | { readonly type: 'redeliver.requested'; readonly at: number };

/** What is kept of an attempt. */
export type RecordedAttempt = Omit<AttemptOutcome, 'at' | 'webhookId' | 'endpointIsFailing'>;

/** What a delivery tells its endpoint, whose health is the endpoint's own to judge. */
export type NewsOfAttempt =
  | { readonly type: 'delivery.failed'; readonly at: number; readonly attemptedAt: number }
  | { readonly type: 'delivery.succeeded'; readonly at: number };
