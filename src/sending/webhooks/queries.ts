import { and, desc, eq, gte, inArray, lte, ne, type SQL, sql } from 'drizzle-orm';
import type { WebhookDeliveryContext } from '../../../machines/webhook-delivery/context.ts';
import type { WebhookDeliveryState } from '../../../machines/webhook-delivery/machine.ts';
import type { Principal } from '../../http/auth/principal.ts';
import { search } from '../../http/lists/bounded-search.ts';
import { type IdRange, idRangeOf, inOrder, withinRange } from '../../http/lists/list.ts';
import { byId, positionOf, searchPageOf } from '../../http/lists/pagination.ts';
import type { Call, Page } from '../../http/request/route.ts';
import type { Database } from '../../platform/db/database.ts';
import type { Reads } from '../../platform/db/reads.ts';
import {
  webhookAttempts,
  webhookDeliveries,
  webhookEndpoints,
  webhookSecrets,
} from '../../platform/db/schema/webhooks.ts';
import { Failure, notFound } from '../../platform/errors/failure.ts';
import type { DeliveryQuery, DeliveryView, WebhookView } from './model.ts';
import { type DeliveryRow, deliveryOf, type EndpointRow, statesShownAs, webhookOf } from './views.ts';

export type { PostError } from './http/post-result.ts';

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

/** Reads an endpoint of the caller's environment as it is stored; null when there is none. */
export async function findEndpointRow(
  { database }: WebhookReader,
  caller: Principal,
  id: string,
): Promise<EndpointRow | null> {
  const [row] = await database.read((orm) =>
    orm
      .select(endpointColumns)
      .from(webhookEndpoints)
      .leftJoin(webhookSecrets, eq(webhookSecrets.webhookId, webhookEndpoints.id))
      .where(and(eq(webhookEndpoints.id, id), ownEndpoints(caller))),
  );
  return row ?? null;
}

/** Reads an endpoint of the caller's environment; null when there is none. */
export async function findWebhook(
  reader: WebhookReader,
  caller: Principal,
  id: string,
): Promise<WebhookView | null> {
  const row = await findEndpointRow(reader, caller, id);
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
 * Reads the deliveries of a workspace that meet a condition, each with its last attempt, in the order of the
 * range. A second statement reads the attempts: where tables are distributed no join goes by the id of a
 * delivery. Only attempts that the rows know of count: a delivery that is shown as under way must not come
 * with the answer of an attempt that has ended since.
 */
async function deliveriesWhere(
  reads: Reads,
  workspaceId: string,
  condition: SQL | undefined,
  range: Pick<IdRange, 'order'>,
  limit: number,
): Promise<readonly DeliveryRow[]> {
  const rows = await reads.read((orm) =>
    orm
      .select(deliveryColumns)
      .from(webhookDeliveries)
      .where(and(condition, eq(webhookDeliveries.workspaceId, workspaceId)))
      .orderBy(inOrder(webhookDeliveries.id, range))
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

/** The number of ended attempts by a row's state: of a delivery under way the latest has not ended. */
const attemptsEnded = (state: string, { attempt, openAttempt = null }: WebhookDeliveryContext): number =>
  state === ('posting' satisfies WebhookDeliveryState) || openAttempt !== null ? attempt - 1 : attempt;

/** The most deliveries that one request looks at for its filters. */
const MOST_SEARCHED = 10_000;

/** The conditions of the filters. */
function filtersOf({ status, attempted }: DeliveryQuery, endpoint: WebhookView['status']): readonly SQL[] {
  const wasAttempted = sql`${webhookDeliveries.context} ->> 'attemptedAt' is not null`;
  return [
    ...(status === undefined ? [] : [inArray(webhookDeliveries.state, [...statesShownAs(status, endpoint)])]),
    ...(attempted === undefined ? [] : [attempted ? wasAttempted : sql`not (${wasAttempted})`]),
  ];
}

/**
 * Lists the deliveries to one endpoint. No index has their state, since one would have each outcome rewrite
 * more than its row: a filter looks at so many of them at most.
 */
export async function listDeliveries(
  reader: DeliveryLister,
  { caller, params: { id }, query }: Call<{ readonly id: string }, DeliveryQuery>,
): Promise<Page<DeliveryView> | Failure> {
  const request = { list: `webhooks/${id}/deliveries`, caller, isPosition: byId('dlv'), query };
  const after = positionOf(request);
  if (after instanceof Failure) return after;
  const webhook = await findWebhook(reader, caller, id);
  if (!webhook) return notFound('webhook endpoint');
  const filters = filtersOf(query, webhook.status);
  const range = idRangeOf('dlv', after, query);
  const within = and(eq(webhookDeliveries.webhookId, id), ...withinRange(webhookDeliveries.id, range));
  const rowsUntil = (end: string | null): Promise<readonly DeliveryRow[]> => {
    const until = range.order === 'asc' ? lte : gte;
    const part = end === null ? [] : [until(webhookDeliveries.id, end)];
    const condition = and(within, ...part, ...filters);
    return deliveriesWhere(reader.reads, caller.workspaceId, condition, range, query.limit + 1);
  };
  const nth = (count: number): Promise<string | null> => nthDelivery(reader.reads, within, range, count);
  const found =
    filters.length === 0
      ? { rows: await rowsUntil(null), stoppedAt: null }
      : await search({ nth, rowsUntil }, query.limit, MOST_SEARCHED);
  const item = (row: DeliveryRow): DeliveryView => deliveryOf(row, webhook.status);
  return searchPageOf(request, found.rows, ({ id }) => id, item, found.stoppedAt);
}

async function nthDelivery(
  reads: Reads,
  within: SQL | undefined,
  range: IdRange,
  count: number,
): Promise<string | null> {
  const rows = await reads.read((orm) =>
    orm
      .select({ id: webhookDeliveries.id })
      .from(webhookDeliveries)
      .where(within)
      .orderBy(inOrder(webhookDeliveries.id, range))
      .offset(count - 1)
      .limit(1),
  );
  return rows[0]?.id ?? null;
}

/** Reads a delivery to an active endpoint; null when there is none. */
export async function findDelivery(
  { database }: WebhookReader,
  { workspaceId }: Principal,
  webhookId: string,
  id: string,
): Promise<DeliveryView | null> {
  const condition = and(eq(webhookDeliveries.id, id), eq(webhookDeliveries.webhookId, webhookId));
  const [row] = await deliveriesWhere(database, workspaceId, condition, { order: 'desc' }, 1);
  return row ? deliveryOf(row, 'active') : null;
}
