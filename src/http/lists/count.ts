import { type Static, Type } from '@sinclair/typebox';
import type { Parameter } from '../../platform/db/database.ts';
import type { Reads } from '../../platform/db/reads.ts';
import type { Failure } from '../../platform/errors/failure.ts';
import type { Call, Route } from '../request/route.ts';
import { filtersOf } from './list-csv.ts';

/** The most items that a count looks at, however many there are. */
export const MOST_COUNTED = 10_000;

/** The number of rows that a count reads: one more shows that it has not seen all. */
export const READ_FOR_COUNT = MOST_COUNTED + 1;

const Count = Type.Object(
  {
    count: Type.Integer({ minimum: 0, maximum: MOST_COUNTED, description: 'The matching items.' }),
    isExact: Type.Boolean({
      description: `False where the list goes on beyond the ${MOST_COUNTED.toLocaleString('en')} items that were looked at: there are at least \`count\`.`,
    }),
  },
  { title: 'Count' },
);

/** The number of items of a list. */
export type CountView = Static<typeof Count>;

/** The row of a count: what matches among the items that were looked at. */
export interface CountRow {
  readonly matching: number;
  readonly looked: number;
}

/**
 * SQL: what matches among the first items of a list. They are read in its order, so that its index is used.
 * `alias` is their name, with all that is joined to them.
 */
export const countSql = (first: string, alias: string, matching: string): string =>
  `select count(*) filter (where ${matching})::integer as matching, count(*)::integer as looked
from (${first} limit ${READ_FOR_COUNT}) ${alias}`;

/** The answer for such a row. */
export const countOf = (row: CountRow | undefined): CountView => ({
  count: Math.min(row?.matching ?? 0, MOST_COUNTED),
  isExact: (row?.looked ?? 0) <= MOST_COUNTED,
});

/** Carries out a count of `countSql`. @throws UnavailableError */
export async function readCount(
  reads: Reads,
  text: string,
  parameters: readonly Parameter[],
): Promise<CountView> {
  const [row] = await reads.query<CountRow>(text, parameters, { isSearch: true });
  return countOf(row);
}

/** The names of the count of a list. */
interface CountNames {
  /** The `operationId`. */
  readonly name: string;
  readonly summary: string;
}

/**
 * A list, what else there is of it, and the number of its items with its filters and permission, at
 * `…/count`.
 */
export function withCount<Query>(
  { name, summary }: CountNames,
  count: (call: Call<unknown, Query>) => Promise<CountView | Failure>,
  [list, ...others]: readonly [Route, ...Route[]],
): readonly Route[] {
  const number: Route = {
    ...list,
    path: `${list.path}/count`,
    name,
    summary,
    description: `The number of items of the list with these filters. It looks at ${MOST_COUNTED.toLocaleString('en')} at most.`,
    query: Type.Omit(filtersOf(list.query ?? Type.Object({})), ['sort']),
    response: Count,
    example: { response: { count: 1_204, isExact: true } },
    handle: (call) => count(call as Call<unknown, Query>),
  };
  return [list, ...others, number];
}
