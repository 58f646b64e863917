import type { IdRange } from '../../../http/lists/list.ts';
import { isId, lowestIdAt, timeOfId } from '../../../platform/db/ids.ts';
import type { BindParameter } from '../../../platform/db/wire/values.ts';
import { DAY_MS } from '../../../platform/time/clock.ts';

/**
 * The ids that the emails of a statement lie between: those of other days are left out before their
 * partitions are opened.
 */
export interface Span {
  readonly from: string;
  /** Exclusive. */
  readonly below: string;
}

/** Every email. */
export const EVERYTHING: Span = { from: 'em_', below: 'em_~' };

/** The emails of one id. */
export const spanOf = (id: string): Span => ({ from: id, below: `${id}~` });

/** The owner of the emails. */
export interface Owner {
  readonly workspaceId: string;
  readonly livemode: boolean;
}

/** The owner of the listed emails, and the number of servers. */
export interface ListOwner extends Owner {
  readonly isOnNodes: boolean;
}

/** A span by the names that its ids, and the workspace of its emails, have in a statement. */
interface PutSpan {
  readonly from: string;
  readonly below: string;
  readonly workspace: string;
  readonly span: Span;
}

/** Gives the ids of a span of emails, and their workspace, their names. */
export const putSpan = (put: BindParameter, span: Span, { workspaceId }: Owner): PutSpan => ({
  from: put(span.from),
  below: put(span.below),
  workspace: put(workspaceId),
  span,
});

/** The start of the day of an id, or of the day after; a bound of no time stays as it is. */
function dayOf(bound: string, days: 0 | 1): string {
  if (!isId('em', bound.replace('~', ''))) return bound;
  return lowestIdAt('em', (Math.floor(timeOfId(bound) / DAY_MS) + days) * DAY_MS);
}

/**
 * The rows of an environment in `emails e`, and their order. Plans are made once for all owners, so nothing
 * may depend on how many emails one of them has: rows are compared as a whole and put in the order of the
 * whole key, which the index by workspace alone can give. With three equations the key of the ids would give
 * the order just as well, and a recipient with few emails would be searched for among everybody's. The ids
 * are compared once more by themselves for the partitions. Where tables are distributed the owner is as well,
 * for its node: as lists of one they are no equations. The workspace alone would be where a scan begins, in
 * place of the whole row, and a page in the midst of a day would be reached over everything of that day.
 *
 * `where` goes on behind the far end of the span, to the end of that day. Rows of the span come first in the
 * order, so the first ones of `where` that are also `within` are the first ones of the span. As a condition
 * of the scan a row ends none before PostgreSQL 18, unless its first column does: 51 emails of a second were
 * looked for among the 300,000 of their day (177 ms). Two bounds of the id alone would end it, but a plan for
 * all owners takes them for so narrow that it reads the emails of everybody and sorts them (8,298 pages of
 * 100,000 emails in place of 11).
 */
export function ownEmails(
  put: BindParameter,
  { livemode, isOnNodes }: ListOwner,
  { from, below, workspace, span }: PutSpan,
  order: IdRange['order'],
) {
  const environment = `${put(livemode)}::boolean`;
  const owner = `${workspace}, ${environment}`;
  const key = '(e.workspace_id, e.livemode, e.id)';
  const node = ` and e.workspace_id = any(array[${workspace}]) and e.livemode = any(array[${environment}])`;
  const isAscending = order === 'asc';
  const lowest = isAscending ? from : put(dayOf(span.from, 0));
  const highest = isAscending ? put(dayOf(span.below, 1)) : below;
  const begun = isAscending
    ? `${key} >= (${owner}, ${from}) and e.workspace_id <= ${workspace}`
    : `${key} < (${owner}, ${below}) and e.workspace_id >= ${workspace}`;
  return {
    where: `${begun}
  and e.id >= ${lowest} and e.id < any(array[${highest}])${isOnNodes ? node : ''}`,
    within: isAscending ? `${key} < (${owner}, ${below})` : `${key} >= (${owner}, ${from})`,
    order: `order by e.workspace_id ${order}, e.livemode ${order}, e.id ${order}`,
  };
}

/**
 * The latest turn `t` of the email `e`. It is given the bounds of the emails themselves, since nothing else
 * tells the planner that the turns of an email lie in the partition of the same day.
 */
export const latestTurn = ({ from, below, workspace }: PutSpan): string => `left join lateral (
  select revision, state, context, last_event, failure_reason, scheduled_at, sent_at, delivered_at from email_turns
  where email_id = e.id and email_id >= ${from} and email_id < ${below} and workspace_id = ${workspace} order by revision desc limit 1
) t on true`;

/** The state of `e` after its latest turn `t`. */
export const STATE_NOW = 'coalesce(t.state, e.state)';

/**
 * SQL: the state of one email, by the names that its id and its workspace have in a statement; null where it
 * is not kept any more.
 */
export const stateOfSql = (id: string, workspace: string): string =>
  `coalesce((select t.state from email_turns t where t.email_id = ${id} and t.workspace_id = ${workspace} order by t.revision desc limit 1),
    (select e.state from emails e where e.id = ${id} and e.workspace_id = ${workspace}))`;

/**
 * The columns of an email's item. Before its first turn an email is scheduled for what it was inserted with.
 * Moments are read as texts, whatever the connection makes of others.
 */
export const ITEM = `e.id, e.livemode, ${STATE_NOW} as state, t.last_event, t.failure_reason,
  (case when t.revision is null then e.scheduled_at else t.scheduled_at end)::text as scheduled_at,
  t.sent_at::text as sent_at, t.delivered_at::text as delivered_at,
  e.subject, e.domain_id, e.template_id, e.campaign_id, e.envelope`;

/** The row of these columns. */
export interface EmailItemRow {
  readonly id: string;
  readonly livemode: boolean;
  readonly state: string;
  readonly last_event: string | null;
  readonly failure_reason: string | null;
  readonly scheduled_at: string | null;
  readonly sent_at: string | null;
  readonly delivered_at: string | null;
  readonly subject: string;
  readonly domain_id: string | null;
  readonly template_id: string | null;
  readonly campaign_id: string | null;
  readonly envelope: unknown;
}
