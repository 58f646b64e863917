import type { WebhookEndpointContext, WebhookEndpointState } from '../../../../machines/webhook-endpoint.ts';
import { BatchedRead, type Owned, rowsById, rowsByOwner } from '../../../async/batched-read.ts';
import type { Database } from '../../../db/database.ts';
import { type EventPlace, readEvents } from '../../emails/queries.ts';

/** The event of a delivery and its endpoint. */
export interface DeliveryPayload {
  readonly webhookId: string;
  /** Null for a test, which is of no email. */
  readonly emailId: string | null;
  readonly eventType: string;
  /** The JSON of the event, the same bytes at every attempt; null when the event was deleted by retention. */
  readonly body: string | null;
  /** The endpoint as it was when the event was read. */
  readonly target: Target | null;
}

interface DeliveryRow {
  readonly id: string;
  readonly workspace_id: string;
  readonly webhook_id: string;
  /** The event of a test, which is in no log. */
  readonly given: unknown;
  readonly event_id: string;
  readonly email_id: string;
  readonly event_type: string;
}

const DELIVERIES = `select d.id, d.workspace_id, d.webhook_id, d.event as given, d.event_id, d.email_id, d.event_type
from unnest($1::text[]) i(id) join webhook_deliveries d on d.id = i.id and d.workspace_id = any($2::text[])`;

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

const readTargets = (database: Database, ids: readonly string[]): Promise<Target[]> =>
  database.query<Target>(TARGETS, [ids]);

type Payload = DeliveryPayload & { readonly id: string };

/**
 * Deliveries come many at a time for the same few events and endpoints: each of those is read once, and each event written once.
 */
async function readPayloads(
  database: Database,
  ids: readonly string[],
  workspaceIds: readonly string[],
): Promise<readonly Payload[]> {
  const rows = await database.query<DeliveryRow>(DELIVERIES, [ids, workspaceIds]);
  const places = new Map<string, EventPlace>();
  for (const { given, workspace_id: workspaceId, email_id: emailId, event_id: eventId } of rows)
    if (given === null) places.set(eventId, { workspaceId, emailId, eventId });
  const [events, targets] = await Promise.all([
    readEvents(database, [...places.values()]),
    readTargets(database, [...new Set(rows.map(({ webhook_id }) => webhook_id))]),
  ]);
  const bodies = new Map([...events].map(([id, event]) => [id, JSON.stringify(event)]));
  const byId = new Map(targets.map((target) => [target.id, target]));
  return rows.map(({ id, webhook_id: webhookId, given, event_id, email_id, event_type }) => ({
    id,
    webhookId,
    emailId: given === null ? email_id : null,
    eventType: event_type,
    body: given === null ? (bodies.get(event_id) ?? null) : JSON.stringify(given),
    target: byId.get(webhookId) ?? null,
  }));
}

/** Reads the events and endpoints of attempts without a cache: a rotation or a deletion counts from the next attempt on, on every instance. */
export function attemptReader(database: Database) {
  const payloads = new BatchedRead(
    'webhook payloads',
    rowsByOwner((ids, workspaceIds) => readPayloads(database, ids, workspaceIds)),
  );
  const targets = new BatchedRead(
    'webhook targets',
    rowsById((ids) => readTargets(database, ids)),
  );
  return {
    payload: (delivery: Owned): Promise<DeliveryPayload | null> => payloads.ask(delivery),
    target: (webhookId: string): Promise<Target | null> => targets.ask(webhookId),
  };
}
