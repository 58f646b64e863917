import type {
  WebhookEndpointContext,
  WebhookEndpointState,
} from '../../../../machines/webhook-endpoint/machine.ts';
import { BatchedRead, type OwnedId, rowsById } from '../../../platform/async/batched-read.ts';
import type { Database } from '../../../platform/db/database.ts';
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

/** The subject of a delivery, which never changes. */
interface Subject {
  readonly webhookId: string;
  readonly eventId: string;
  readonly eventType: string;
  readonly emailId: string;
  /** The event of a test, which is in no log. */
  readonly given: unknown;
}

/**
 * SQL of the subject of a new delivery as one text, which comes with its first attempt; none of it has a
 * space.
 */
export const SUBJECT_SQL = `webhook_id || ' ' || event_id || ' ' || event_type || ' ' || email_id`;

function subjectIn(text: string): Subject {
  const [webhookId = '', eventId = '', eventType = '', emailId = ''] = text.split(' ');
  return { webhookId, eventId, eventType, emailId, given: null };
}

/** A delivery whose attempt is to be made. */
interface Delivery extends OwnedId {
  /** Its subject, by `SUBJECT_SQL`; null where it is to be read. */
  readonly subject: string | null;
}

const SUBJECTS = `select d.id, d.webhook_id as "webhookId", d.event_id as "eventId", d.event_type as "eventType", d.email_id as "emailId",
  d.event as given
from unnest($1::text[]) i(id) join webhook_deliveries d on d.id = i.id and d.workspace_id = any($2::text[])`;

/** The subjects of deliveries by their ids; those are missing that are no more. */
async function subjectsOf(
  database: Database,
  deliveries: readonly Delivery[],
): Promise<ReadonlyMap<string, Subject>> {
  const subjects = new Map<string, Subject>();
  const unknown: Delivery[] = [];
  for (const delivery of deliveries)
    if (delivery.subject === null) unknown.push(delivery);
    else subjects.set(delivery.id, subjectIn(delivery.subject));
  if (unknown.length === 0) return subjects;
  const workspaceIds = [...new Set(unknown.map(({ workspaceId }) => workspaceId))];
  const ids = [...new Set(unknown.map(({ id }) => id))];
  const rows = await database.query<Subject & { readonly id: string }>(SUBJECTS, [ids, workspaceIds]);
  for (const { id, ...subject } of rows) subjects.set(id, subject);
  return subjects;
}

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

/**
 * Deliveries come many at a time for the same few events and endpoints: each of those is read once, and each
 * event written once.
 */
async function readPayloads(
  database: Database,
  deliveries: readonly Delivery[],
  isOnNodes: boolean,
): Promise<(delivery: Delivery) => DeliveryPayload | null> {
  const subjects = await subjectsOf(database, deliveries);
  const places = new Map<string, EventPlace>();
  for (const { id, workspaceId } of deliveries) {
    const subject = subjects.get(id);
    if (subject?.given === null) {
      const { emailId, eventId } = subject;
      places.set(eventId, { workspaceId, emailId, eventId });
    }
  }
  const webhookIds = new Set<string>();
  for (const { webhookId } of subjects.values()) webhookIds.add(webhookId);
  const [events, targets] = await Promise.all([
    readEvents(database, [...places.values()], isOnNodes),
    readTargets(database, [...webhookIds]),
  ]);
  const bodies = new Map([...events].map(([id, event]) => [id, JSON.stringify(event)]));
  const byId = new Map(targets.map((target) => [target.id, target]));
  return ({ id }) => {
    const subject = subjects.get(id);
    if (!subject) return null;
    const { webhookId, eventId, eventType, emailId, given } = subject;
    return {
      webhookId,
      emailId: given === null ? emailId : null,
      eventType,
      body: given === null ? (bodies.get(eventId) ?? null) : JSON.stringify(given),
      target: byId.get(webhookId) ?? null,
    };
  };
}

/**
 * Reads the events and endpoints of attempts without a cache: a rotation or a deletion counts from the next
 * attempt on, on every instance.
 */
export function attemptReader(database: Database, isOnNodes: boolean) {
  const payloads = new BatchedRead('webhook payloads', (deliveries: readonly Delivery[]) =>
    readPayloads(database, deliveries, isOnNodes),
  );
  const targets = new BatchedRead(
    'webhook targets',
    rowsById((ids) => readTargets(database, ids)),
  );
  return {
    payload: (delivery: Delivery): Promise<DeliveryPayload | null> => payloads.ask(delivery),
    target: (webhookId: string): Promise<Target | null> => targets.ask(webhookId),
  };
}
