import { and, desc, eq, inArray, lte, ne, type SQL, sql } from 'drizzle-orm';
import type { WebhookDeliveryState } from '../../../machines/webhook-delivery.ts';
import type { WebhookDeliveryContext } from '../../../machines/webhook-delivery-context.ts';
import type { Principal } from '../../auth/principal.ts';
import type { Database } from '../../db/database.ts';
import type { Reads } from '../../db/reads.ts';
import {
  webhookAttempts,
  webhookDeliveries,
  webhookEndpoints,
  webhookSecrets,
} from '../../db/schema/webhooks.ts';
import { type Failure, notFound } from '../../http/failure.ts';
import { listById, withinRange } from '../../http/list.ts';
import type { Call, Page } from '../../http/route.ts';
import type { DeliveryQuery, DeliveryView, WebhookView } from './model.ts';
import { type DeliveryRow, deliveryOf, webhookOf } from './views.ts';

export interface WebhookReader {
  readonly database: Database;
}

/** The services that listing deliveries calls. */
export interface DeliveryLister extends WebhookReader {
  readonly reads: Reads;
}

const endpointColumns = {
  id: webhookEndpoints.id,
  state: webhookEndpoints.state,
  context: webhookEndpoints.context,
  prefix: webhookSecrets.prefix,
};

const ownEndpoints = (caller: Principal): SQL | undefined =>
  and(
    eq(webhookEndpoints.workspaceId, caller.workspaceId),
    eq(webhookEndpoints.livemode, caller.livemode),
    ne(webhookEndpoints.state, 'deleted'),
  );

/** Reads an endpoint of the caller's environment; null when there is none. */
export async function findWebhook(
  { database }: WebhookReader,
  caller: Principal,
  id: string,
): Promise<WebhookView | null> {
  const [row] = await database.read((orm) =>
    orm
      .select(endpointColumns)
      .from(webhookEndpoints)
      .leftJoin(webhookSecrets, eq(webhookSecrets.webhookId, webhookEndpoints.id))
      .where(and(eq(webhookEndpoints.id, id), ownEndpoints(caller))),
  );
  return row ? webhookOf(row) : null;
}

/** Reads an endpoint, or answers 404. */
export const webhookDetail = async (
  reader: WebhookReader,
  { caller, params }: Call<{ readonly id: string }>,
): Promise<WebhookView | Failure> =>
  (await findWebhook(reader, caller, params.id)) ?? notFound('webhook endpoint');

/** Lists the endpoints of the caller's environment, newest first. */
export async function listWebhooks(
  { database }: WebhookReader,
  { caller }: Call,
): Promise<readonly WebhookView[]> {
  const rows = await database.read((orm) =>
    orm
      .select(endpointColumns)
      .from(webhookEndpoints)
      .leftJoin(webhookSecrets, eq(webhookSecrets.webhookId, webhookEndpoints.id))
      .where(ownEndpoints(caller))
      .orderBy(desc(webhookEndpoints.id)),
  );
  return rows.map(webhookOf);
}

const deliveryColumns = {
  id: webhookDeliveries.id,
  webhookId: webhookDeliveries.webhookId,
  eventId: webhookDeliveries.eventId,
  eventType: webhookDeliveries.eventType,
  emailId: webhookDeliveries.emailId,
  state: webhookDeliveries.state,
  context: webhookDeliveries.context,
  timers: webhookDeliveries.timers,
};

const attemptColumns = {
  deliveryId: webhookAttempts.deliveryId,
  attemptedAt: webhookAttempts.attemptedAt,
  httpStatus: webhookAttempts.httpStatus,
  responseBody: webhookAttempts.responseBody,
  durationMs: webhookAttempts.durationMs,
  error: webhookAttempts.error,
};

const NO_ATTEMPT = { attemptedAt: null, httpStatus: null, responseBody: null, durationMs: null, error: null };

/**
 * Reads the deliveries of a workspace that meet a condition, each with its last attempt, newest event first. The attempts are read by
 * themselves: where tables are distributed no join goes by the id of a delivery. Of those only what the rows know of counts: a delivery
 * that is shown as under way must not come with the answer to what has ended since.
 */
async function deliveriesWhere(
  reads: Reads,
  workspaceId: string,
  condition: SQL | undefined,
  limit: number,
): Promise<readonly DeliveryRow[]> {
  const rows = await reads.read((orm) =>
    orm
      .select(deliveryColumns)
      .from(webhookDeliveries)
      .where(and(condition, eq(webhookDeliveries.workspaceId, workspaceId)))
      .orderBy(desc(webhookDeliveries.id))
      .limit(limit),
  );
  if (rows.length === 0) return [];
  const ids = rows.map(({ id }) => id);
  const ended = rows.map(({ state, context }) => attemptsEnded(state, context as WebhookDeliveryContext));
  const known = sql`(${sql.param(ended)}::integer[])[array_position(${sql.param(ids)}::text[], ${webhookAttempts.deliveryId})]`;
  const attempts = await reads.read((orm) =>
    orm
      .selectDistinctOn([webhookAttempts.deliveryId], attemptColumns)
      .from(webhookAttempts)
      .where(and(inArray(webhookAttempts.deliveryId, ids), lte(webhookAttempts.attempt, known)))
      .orderBy(webhookAttempts.deliveryId, desc(webhookAttempts.attempt)),
  );
  const last = new Map(attempts.map(({ deliveryId, ...attempt }) => [deliveryId, attempt]));
  return rows.map((row) => ({ ...row, ...(last.get(row.id) ?? NO_ATTEMPT) }));
}

/** How many attempts have ended by what a row says: of one under way the latest has not. */
const attemptsEnded = (state: string, { attempt }: WebhookDeliveryContext): number =>
  state === ('posting' satisfies WebhookDeliveryState) ? attempt - 1 : attempt;

/** Lists the deliveries to one endpoint. */
export function listDeliveries(
  reader: DeliveryLister,
  call: Call<{ readonly id: string }, DeliveryQuery>,
): Promise<Page<DeliveryView> | Failure> {
  const { id } = call.params;
  const ofWebhook = eq(webhookDeliveries.webhookId, id);
  return listById(call, {
    list: `webhooks/${id}/deliveries`,
    prefix: 'dlv',
    rows: async (range, limit) => {
      const webhook = await findWebhook(reader, call.caller, id);
      if (!webhook) return notFound('webhook endpoint');
      const condition = and(ofWebhook, ...withinRange(webhookDeliveries.id, range));
      const rows = await deliveriesWhere(reader.reads, call.caller.workspaceId, condition, limit);
      return rows.map((row) => ({ ...row, endpoint: webhook.status }));
    },
    item: ({ endpoint, ...row }) => deliveryOf(row, endpoint),
  });
}

/** Reads a delivery to an active endpoint; null when there is none. */
export async function findDelivery(
  { database }: WebhookReader,
  { workspaceId }: Principal,
  webhookId: string,
  id: string,
): Promise<DeliveryView | null> {
  const condition = and(eq(webhookDeliveries.id, id), eq(webhookDeliveries.webhookId, webhookId));
  const [row] = await deliveriesWhere(database, workspaceId, condition, 1);
  return row ? deliveryOf(row, 'active') : null;
}
