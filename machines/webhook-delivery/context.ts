import type { StopReason } from '../webhook-endpoint/machine.ts';

/** The context of a delivery. Payloads and answers lie elsewhere. Times are epoch milliseconds. */
export interface WebhookDeliveryContext {
  /** The time of the last event, from which delays count. */
  readonly at: number;
  /** The time after which an attempt without an outcome counts as lost. */
  readonly leaseMs: number;
  /**
   * The test clock that its email lives by, and whose times all of its times are; absent for the real time.
   */
  readonly testClockId?: string;
  /** The time of the first attempt, when a replay spreads its deliveries; null for at once. */
  readonly turnAt: number | null;
  /** The number of the latest attempt that was ordered. Every outcome must carry it. */
  readonly attempt: number;
  /** The retries since the first attempt, or since a client last asked for the event again. */
  readonly retryCount: number;
  /** The time that the latest attempt with an outcome began. */
  readonly attemptedAt: number | null;
  /** Set when it failed because its endpoint, or the event itself, went away. */
  readonly stoppedBy: StopReason | null;
  /** The attempt that was under way when it stopped, and whose outcome may still come. */
  readonly openAttempt?: number | null;
}

export type WebhookDeliveryInput = Pick<WebhookDeliveryContext, 'at' | 'leaseMs' | 'turnAt'>;

export interface AttemptOutcome {
  readonly at: number;
  readonly attempt: number;
  readonly attemptedAt: number;
  /** 0 when there was no answer. */
  readonly httpStatus: number;
  readonly responseBody: string;
  readonly durationMs: number;
  /** The reason for an incomplete answer; null for a complete one. */
  readonly error: string | null;
  readonly webhookId: string;
  /** True when the endpoint has counted failures, so that a success is news to it. */
  readonly endpointIsFailing: boolean;
  /** The real times of an attempt by a test clock: its endpoint lives by the real time. */
  readonly real?: { readonly at: number; readonly attemptedAt: number };
}

export type WebhookDeliveryEvent =
  /** The receiver answered 2xx, whole and in time. */
  | ({ readonly type: 'attempt.succeeded' } & AttemptOutcome)
  /** Anything else. */
  | ({ readonly type: 'attempt.failed' } & AttemptOutcome)
  /** The attempt was not begun, since its process stops: it is another one's. */
  | { readonly type: 'attempt.declined'; readonly at: number; readonly attempt: number }
  /** The endpoint was disabled or deleted, or the event is gone; nothing more is sent. */
  | { readonly type: 'endpoint.stopped'; readonly at: number; readonly reason: StopReason }
  /** A client asks for the event again, after any outcome; retries start over. */
  | { readonly type: 'redeliver.requested'; readonly at: number };

/** The stored row of an attempt. */
export type RecordedAttempt = Omit<AttemptOutcome, 'at' | 'webhookId' | 'endpointIsFailing'>;

/** The event that a delivery sends to its endpoint, which decides about its own health. */
export type NewsOfAttempt =
  | {
      readonly type: 'delivery.failed';
      readonly at: number;
      readonly attemptedAt: number;
      readonly orderedAt: number;
      readonly httpStatus: number;
      readonly error: string | null;
    }
  | { readonly type: 'delivery.succeeded'; readonly at: number };
