import { type Static, Type } from '@sinclair/typebox';
import { type Column, gte, lt, type SQL } from 'drizzle-orm';
import { type IdPrefix, lowestIdAt } from '../db/ids.ts';
import { Failure } from './failure.ts';
import { byId, type ListRequest, pageOf, positionOf } from './pagination.ts';
import type { Page } from './route.ts';

/** The query parameters of lists that can be narrowed by when their items were made; spread them into the schema of the query. */
export const createdQuery = {
  createdAfter: Type.Optional(
    Type.String({ format: 'date-time', description: 'Only what was created then or later.' }),
  ),
  createdBefore: Type.Optional(
    Type.String({ format: 'date-time', description: 'Only what was created before that.' }),
  ),
};

/** The ids that a page may hold: ids begin with the time they were made at, so one index serves order, cursor and dates. */
export interface IdRange {
  /** Ids below this one; null: from the newest. */
  readonly below: string | null;
  /** This id and those above it; null: to the oldest. */
  readonly from: string | null;
}

type Created = {
  readonly [Name in keyof typeof createdQuery]?: Static<(typeof createdQuery)[Name]> | undefined;
};

/** The range that a cursor and dates leave. Both bounds are exact: two dates that cross leave nothing. */
export function idRangeOf(
  prefix: IdPrefix,
  after: string | null,
  { createdAfter, createdBefore }: Created,
): IdRange {
  const before = createdBefore === undefined ? null : lowestIdAt(prefix, Date.parse(createdBefore));
  return {
    below: after !== null && (before === null || after < before) ? after : before,
    from: createdAfter === undefined ? null : lowestIdAt(prefix, Date.parse(createdAfter)),
  };
}

/** The conditions that keep an id column within a range. */
export const withinRange = (id: Column, { below, from }: IdRange): readonly SQL[] => [
  ...(below === null ? [] : [lt(id, below)]),
  ...(from === null ? [] : [gte(id, from)]),
];

/** How one list is read whose items go by their ids, newest first. */
export interface IdList<Row extends { readonly id: string }, Item> {
  /** `domains`, `webhooks/wh_…/deliveries`: what the cursor belongs to. */
  readonly list: string;
  readonly prefix: IdPrefix;
  /** Rows of the range, newest first, as many as `limit` says if there are so many. */
  rows(range: IdRange, limit: number): Promise<readonly Row[] | Failure>;
  item(row: Row): Item;
}

/** One page of such a list. @throws Unavailable */
export async function listById<Row extends { readonly id: string }, Item>(
  { caller, query }: Pick<ListRequest, 'caller' | 'query'>,
  { list, prefix, rows, item }: IdList<Row, Item>,
): Promise<Page<Item> | Failure> {
  const request = { list, caller, isPosition: byId(prefix), query };
  const after = positionOf(request);
  if (after instanceof Failure) return after;
  // One row more than the page has says whether another one follows, so that nothing is counted.
  const found = await rows(idRangeOf(prefix, after, query as Created), query.limit + 1);
  return found instanceof Failure ? found : pageOf(request, found, ({ id }) => id, item);
}
