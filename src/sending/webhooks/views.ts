import type { WebhookDeliveryContext } from '../../../machines/webhook-delivery/context.ts';
import {
  WEBHOOK_DELIVERY_STATES,
  type WebhookDeliveryState,
} from '../../../machines/webhook-delivery/machine.ts';
import {
  FAILURES_TO_DISABLE,
  type StopReason,
  type WebhookEndpointContext,
  type WebhookEndpointState,
} from '../../../machines/webhook-endpoint/machine.ts';
import { decidedFor } from '../../engine/machine/kind.ts';
import { timeOfId } from '../../platform/db/ids.ts';
import type { DeliveryView, WebhookView } from './model.ts';

/** The row of an endpoint with the prefix of its secret. */
export interface EndpointRow {
  readonly id: string;
  readonly state: string;
  readonly context: unknown;
  readonly prefix: string | null;
}

/** The last change of an endpoint by a client (epoch milliseconds). */
export const changedAtOf = (id: string, { changedAt }: WebhookEndpointContext): number =>
  changedAt ?? timeOfId(id);

/** An endpoint as clients see it. */
export function webhookOf({ id, state, context, prefix }: EndpointRow): WebhookView {
  const { url, events, failureCount, lastFailures = [], disabled, at } = context as WebhookEndpointContext;
  const byFailures = failureCount >= FAILURES_TO_DISABLE ? 'failures' : 'request';
  // Versions that did not keep it have changed nothing of an endpoint since it was disabled, as a rule.
  const { at: disabledAt, reason } = disabled ?? { at, reason: byFailures };
  const isDisabled = state === ('disabled' satisfies WebhookEndpointState);
  return {
    id,
    url,
    events: [...events],
    status: state as WebhookView['status'],
    secretPrefix: prefix ?? '',
    failureCount,
    lastFailures: lastFailures.map((one) => ({ ...one, at: new Date(one.at).toISOString() })),
    disabledAt: isDisabled ? new Date(disabledAt).toISOString() : null,
    disabledReason: isDisabled ? reason : null,
    createdAt: new Date(timeOfId(id)).toISOString(),
    updatedAt: new Date(changedAtOf(id, context as WebhookEndpointContext)).toISOString(),
  };
}

/** The row of a delivery with its last attempt. */
export interface DeliveryRow {
  readonly id: string;
  readonly webhookId: string;
  readonly eventId: string;
  readonly eventType: string;
  readonly emailId: string;
  readonly state: string;
  readonly context: unknown;
  readonly timers: unknown;
  readonly attemptedAt: Date | null;
  readonly httpStatus: number | null;
  readonly responseBody: string | null;
  readonly durationMs: number | null;
  readonly error: string | null;
}

/** The texts that replace the reply of a receiver when no attempt was made. */
const NEVER_SENT: Record<StopReason, string> = {
  endpoint_disabled: 'The endpoint was disabled before the event was sent.',
  endpoint_deleted: 'The endpoint was deleted before the event was sent.',
  event_expired: 'The event was deleted by retention.',
  test_clock_deleted: 'The test clock of the email was deleted before the next attempt.',
};

/**
 * The status that clients see for a state, and whether a delivery in it stops when its endpoint is disabled.
 */
const SHOWN: Readonly<
  Record<WebhookDeliveryState, { readonly status: DeliveryView['status']; readonly stops: boolean }>
> = {
  queued: { status: 'scheduled', stops: true },
  posting: { status: 'scheduled', stops: false },
  scheduled: { status: 'scheduled', stops: true },
  success: { status: 'success', stops: false },
  failed: { status: 'failed', stops: false },
};

const isShownAs = (state: WebhookDeliveryState, endpoint: WebhookView['status']): DeliveryView['status'] =>
  endpoint === 'disabled' && SHOWN[state].stops ? 'failed' : SHOWN[state].status;

/** The states of the deliveries to an endpoint of that status which clients see as one. */
export const statesShownAs = (
  status: DeliveryView['status'],
  endpoint: WebhookView['status'],
): readonly WebhookDeliveryState[] =>
  WEBHOOK_DELIVERY_STATES.filter((state) => isShownAs(state, endpoint) === status);

/**
 * A delivery to an endpoint of that status, as clients see it. A delivery that waits for a disabled endpoint
 * is shown as stopped, although its row may follow a moment later; an attempt that is under way may still
 * succeed.
 */
export function deliveryOf(row: DeliveryRow, endpoint: WebhookView['status']): DeliveryView {
  const { retryCount, stoppedBy: toldOf } = row.context as WebhookDeliveryContext;
  const shown = decidedFor(SHOWN, row.state);
  const isStopped = endpoint === 'disabled' && shown.stops;
  const stoppedBy = isStopped ? 'endpoint_disabled' : toldOf;
  const isTimed = !isStopped && row.state !== 'posting';
  const timed = isTimed ? Object.values((row.timers ?? {}) as Record<string, number>) : [];
  return {
    id: row.id,
    webhookId: row.webhookId,
    eventId: row.eventId,
    eventType: row.eventType as DeliveryView['eventType'],
    emailId: row.emailId,
    status: isStopped ? 'failed' : shown.status,
    httpStatus: row.httpStatus ?? 0,
    responseBody: row.responseBody ?? (stoppedBy ? NEVER_SENT[stoppedBy] : ''),
    retryCount,
    attemptedAt: row.attemptedAt?.toISOString() ?? null,
    durationMs: row.durationMs,
    error: row.error ?? stoppedBy,
    stopReason: stoppedBy,
    nextAttemptAt: timed.length > 0 ? new Date(Math.min(...timed)).toISOString() : null,
  };
}
