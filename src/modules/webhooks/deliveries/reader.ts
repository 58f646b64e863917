import type { WebhookEndpointContext, WebhookEndpointState } from '../../../../machines/webhook-endpoint.ts';
import { BatchedRead, rowsById } from '../../../async/batched-read.ts';
import type { Database } from '../../../db/database.ts';
import { type EmailEvent, readEvents } from '../../emails/queries.ts';

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
  readonly event_id: string;
  readonly email_id: string;
  /** Null when the endpoint no longer exists. */
  readonly state: Target['state'] | null;
  readonly context: WebhookEndpointContext;
  readonly sealed: string | null;
}

const PAYLOADS = `select d.id, d.webhook_id, d.event as given, d.event_id, d.email_id, w.state, w.context, k.sealed
from unnest($1::text[]) i(id) join webhook_deliveries d on d.id = i.id
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

type Payload = PayloadRow & { readonly event: EmailEvent | undefined };

function bodyOf({ given, event }: Payload): string | null {
  if (given !== null) return JSON.stringify(given);
  return event ? JSON.stringify(event) : null;
}

async function readPayloads(database: Database, ids: readonly string[]): Promise<readonly Payload[]> {
  const rows = await database.query<PayloadRow>(PAYLOADS, [ids]);
  const logged = rows.filter(({ given }) => given === null);
  const places = logged.map(({ email_id, event_id }) => ({ emailId: email_id, eventId: event_id }));
  const events = await readEvents(database, places);
  return rows.map((row) => ({ ...row, event: events.get(row.event_id) }));
}

const targetOf = ({ webhook_id: id, state, context, sealed }: PayloadRow): Target | null =>
  state === null ? null : { id, state, context, sealed };

/** Reads the events and endpoints of attempts without a cache: a rotation or a deletion counts from the next attempt on, on every instance. */
export function attemptReader(database: Database) {
  const payloads = new BatchedRead(
    'webhook payloads',
    rowsById((ids) => readPayloads(database, ids)),
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
