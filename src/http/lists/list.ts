import { type Static, type TOptional, type TUnsafe, Type } from '@sinclair/typebox';
import { asc, type Column, desc, gte, lt, type SQL } from 'drizzle-orm';
import { type IdPrefix, lowestIdAt } from '../../platform/db/ids.ts';
import { Failure } from '../../platform/errors/failure.ts';
import type { Page } from '../request/route.ts';
import { literals } from '../request/schema.ts';
import { byId, type ListRequest, pageOf, positionOf } from './pagination.ts';

/**
 * The query parameters of lists that can be filtered by creation time; spread them into the schema of the
 * query.
 */
export const createdQuery = {
  createdAfter: Type.Optional(
    Type.String({ format: 'date-time', description: 'Only items created at or after this time.' }),
  ),
  createdBefore: Type.Optional(
    Type.String({ format: 'date-time', description: 'Only items created before this time.' }),
  ),
};

/** The filters of a list, without the page: what its export and its counts take. */
export type FilterOf<Query> = Omit<Query, 'after' | 'limit' | 'sort'>;

/** The order of a list by a member of its items; `-` reverses it. */
type SortBy<Key extends string = 'createdAt'> = Key | `-${Key}`;

/**
 * The query parameter of a list that is sorted by one of these members; spread it into the schema of the
 * query.
 */
export const sortQuery = <const Key extends string = 'createdAt'>(
  ...others: readonly Key[]
): { readonly sort: TOptional<TUnsafe<SortBy<Key | 'createdAt'>>> } => {
  const values = ['createdAt' as const, ...others].flatMap((key) => [key, `-${key}` as const]);
  const description = `The order: by ${['creation time', ...others.map((key) => `\`${key}\``)].join(' or ')}; \`-\` reverses it. The default is \`-createdAt\`, newest first.`;
  return { sort: Type.Optional(literals(values, { description })) };
};

/**
 * A range of ids. An id begins with its creation time, so one index serves the order, the cursor and the
 * dates.
 */
export interface IdRange {
  /** Only smaller ids than this one; null begins at the newest. */
  readonly below: string | null;
  /** Only this id and greater ones; null goes on to the oldest. */
  readonly from: string | null;
  /** `desc`: newest first. */
  readonly order: 'asc' | 'desc';
}

type CreationRange = {
  readonly [Name in keyof typeof createdQuery]?: Static<(typeof createdQuery)[Name]> | undefined;
} & { readonly sort?: string | undefined };

/** Above every id that begins with this one: ids are equally long, and none has this character. */
const PAST = '~';

/**
 * The range that a cursor and the two dates leave. Both bounds are exact; dates in the wrong order leave
 * nothing.
 */
export function idRangeOf(
  prefix: IdPrefix,
  after: string | null,
  { createdAfter, createdBefore, sort }: CreationRange,
): IdRange {
  const before = createdBefore === undefined ? null : lowestIdAt(prefix, Date.parse(createdBefore));
  const from = createdAfter === undefined ? null : lowestIdAt(prefix, Date.parse(createdAfter));
  if (sort !== 'createdAt')
    return {
      below: after !== null && (before === null || after < before) ? after : before,
      from,
      order: 'desc',
    };
  const isWithin = after !== null && (from === null || from <= after);
  return { below: before, from: isWithin ? after + PAST : from, order: 'asc' };
}

/** The order of a range, for a query of Drizzle. */
export const inOrder = (id: Column, { order }: Pick<IdRange, 'order'>): SQL =>
  order === 'asc' ? asc(id) : desc(id);

/** The SQL conditions that keep an id column within a range. */
export const withinRange = (id: Column, { below, from }: IdRange): readonly SQL[] => [
  ...(below === null ? [] : [lt(id, below)]),
  ...(from === null ? [] : [gte(id, from)]),
];

/** The definition of a list that is ordered by the ids of its items. */
export interface IdList<Row extends { readonly id: string }, Item> {
  /** The list that a cursor belongs to: `domains`, `webhooks/wh_…/deliveries`. */
  readonly list: string;
  readonly prefix: IdPrefix;
  /** Reads at most `limit` rows of the range, in its order. */
  rows(range: IdRange, limit: number): Promise<readonly Row[] | Failure>;
  item(row: Row): Item;
}

/** Reads one page of such a list. @throws UnavailableError */
export async function listById<Row extends { readonly id: string }, Item>(
  { caller, query }: Pick<ListRequest, 'caller' | 'query'>,
  { list, prefix, rows, item }: IdList<Row, Item>,
): Promise<Page<Item> | Failure> {
  const request = { list, caller, isPosition: byId(prefix), query };
  const after = positionOf(request);
  if (after instanceof Failure) return after;
  // One row more than the page holds shows whether another page follows, without a count.
  const found = await rows(idRangeOf(prefix, after, query as CreationRange), query.limit + 1);
  return found instanceof Failure ? found : pageOf(request, found, ({ id }) => id, item);
}
