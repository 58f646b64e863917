import type { WebhookEndpointContext, WebhookEndpointState } from '../../../../machines/webhook-endpoint.ts';
import { BatchedRead, rowsById } from '../../../async/batched-read.ts';
import type { Database } from '../../../db/database.ts';
import { eventOf } from '../../emails/queries.ts';

/** The event of a delivery and its endpoint. */
export interface DeliveryPayload {
  readonly webhookId: string;
  /** The JSON of the event, the same bytes at every attempt; null when the event was deleted by retention. */
  readonly body: string | null;
  /** The endpoint as it was when the event was read. */
  readonly target: Target | null;
}

interface PayloadRow {
  readonly id: string;
  readonly webhook_id: string;
  /** The event of a test, which is in no log. */
  readonly given: unknown;
  readonly event_id: string | null;
  readonly email_id: string;
  readonly type: string;
  readonly recipient: string;
  readonly occurred_at: number;
  readonly data: unknown;
  readonly livemode: boolean;
  /** Null when the endpoint no longer exists. */
  readonly state: Target['state'] | null;
  readonly context: WebhookEndpointContext;
  readonly sealed: string | null;
}

const PAYLOADS = `select d.id, d.webhook_id, d.event as given, e.id as event_id, e.email_id, e.type, e.recipient,
  (extract(epoch from e.occurred_at) * 1000)::float8 as occurred_at, e.data, e.livemode,
  w.state, w.context, k.sealed
from unnest($1::text[]) i(id) join webhook_deliveries d on d.id = i.id
left join email_events e on e.email_id = d.email_id and e.id = d.event_id
left join webhook_endpoints w on w.id = d.webhook_id
left join webhook_secrets k on k.webhook_id = d.webhook_id`;

/** An endpoint at the time of sending. */
export interface Target {
  readonly id: string;
  readonly state: WebhookEndpointState;
  readonly context: WebhookEndpointContext;
  /** The sealed secret; null once the endpoint is deleted. */
  readonly sealed: string | null;
}

const TARGETS = `select w.id, w.state, w.context, k.sealed
from unnest($1::text[]) i(id) join webhook_endpoints w on w.id = i.id
left join webhook_secrets k on k.webhook_id = w.id`;

function bodyOf(row: PayloadRow): string | null {
  if (row.given !== null) return JSON.stringify(row.given);
  if (row.event_id === null) return null;
  const { event_id: id, email_id: emailId, type, recipient, data, livemode } = row;
  const occurredAt = new Date(row.occurred_at);
  return JSON.stringify(eventOf({ id, emailId, livemode, type, recipient, occurredAt, data }));
}

const targetOf = ({ webhook_id: id, state, context, sealed }: PayloadRow): Target | null =>
  state === null ? null : { id, state, context, sealed };

/** Reads the events and endpoints of attempts without a cache: a rotation or a deletion counts from the next attempt on, on every instance. */
export function attemptReader(database: Database) {
  const payloads = new BatchedRead(
    'webhook payloads',
    rowsById((ids) => database.query<PayloadRow>(PAYLOADS, [ids])),
  );
  const targets = new BatchedRead(
    'webhook targets',
    rowsById((ids) => database.query<Target>(TARGETS, [ids])),
  );
  return {
    async payload(deliveryId: string): Promise<DeliveryPayload | null> {
      const row = await payloads.ask(deliveryId);
      return row && { webhookId: row.webhook_id, body: bodyOf(row), target: targetOf(row) };
    },
    target: (webhookId: string): Promise<Target | null> => targets.ask(webhookId),
  };
}
