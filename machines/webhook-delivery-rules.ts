import type {
  AttemptOutcome,
  NewsOfAttempt,
  RecordedAttempt,
  WebhookDeliveryContext,
  WebhookDeliveryEvent,
} from './webhook-delivery-context.ts';

/** The time of an event. Internal events of XState carry none in its types; the engine adds one. */
export const momentOf = (context: WebhookDeliveryContext, event: { readonly at?: number }): number =>
  event.at ?? context.at;

/** True when the event is an outcome, and of the attempt under way: one that counts as lost can still come to an end. */
export const isOfLatestAttempt = (context: WebhookDeliveryContext, event: WebhookDeliveryEvent): boolean =>
  'attempt' in event && event.attempt === context.attempt;

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

/** The news of a failed attempt. The time that it began decides whether the endpoint counts it. */
export function newsOfFailure(event: WebhookDeliveryEvent): AddressedNews {
  const { webhookId, real, ...own } = event as AttemptOutcome;
  const { at, attemptedAt } = real ?? own;
  return { webhookId, news: { type: 'delivery.failed', at, attemptedAt } };
}

/** The news of a successful attempt. */
export function newsOfSuccess(event: WebhookDeliveryEvent): AddressedNews {
  const { at, webhookId, real } = event as AttemptOutcome;
  return { webhookId, news: { type: 'delivery.succeeded', at: real?.at ?? at } };
}
