import type {
  AttemptOutcome,
  NewsOfAttempt,
  RecordedAttempt,
  WebhookDeliveryContext,
  WebhookDeliveryEvent,
} from './context.ts';

/** The time of an event. Internal events of XState carry none in its types; the engine adds one. */
export const momentOf = (context: WebhookDeliveryContext, event: { readonly at?: number }): number =>
  event.at ?? context.at;

/** True when the event is an outcome of the attempt under way: one that counts as lost can still end. */
export const isOfLatestAttempt = (context: WebhookDeliveryContext, event: WebhookDeliveryEvent): boolean =>
  'attempt' in event && event.attempt === context.attempt;

/** True when the event is the outcome of the attempt that was under way when the delivery stopped. */
export const isOfOpenAttempt = (context: WebhookDeliveryContext, event: WebhookDeliveryEvent): boolean =>
  (context.openAttempt ?? null) !== null && 'attempt' in event && event.attempt === context.openAttempt;

/** The row of an attempt. */
export function recordOf(event: WebhookDeliveryEvent): RecordedAttempt {
  const { attempt, attemptedAt, httpStatus, responseBody, durationMs, error } = event as AttemptOutcome;
  return { attempt, attemptedAt, httpStatus, responseBody, durationMs, error };
}

/** News of an attempt, and the endpoint that they are for. */
interface AddressedNews {
  readonly webhookId: string;
  readonly news: NewsOfAttempt;
}

/**
 * The news of a failed attempt. When it was ordered and when it began decide whether the endpoint counts it.
 * An attempt by a test clock waits for nothing in real time.
 */
export function newsOfFailure(
  { at: orderedAt }: WebhookDeliveryContext,
  event: WebhookDeliveryEvent,
): AddressedNews {
  const { webhookId, real, httpStatus, error, ...own } = event as AttemptOutcome;
  const { at, attemptedAt } = real ?? own;
  return {
    webhookId,
    news: {
      type: 'delivery.failed',
      at,
      attemptedAt,
      httpStatus,
      error,
      orderedAt: real ? attemptedAt : Math.min(orderedAt, attemptedAt),
    },
  };
}

export function newsOfSuccess(event: WebhookDeliveryEvent): AddressedNews {
  const { at, webhookId, real } = event as AttemptOutcome;
  return { webhookId, news: { type: 'delivery.succeeded', at: real?.at ?? at } };
}
