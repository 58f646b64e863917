import { Type } from '@sinclair/typebox';
import { type IdPrefix, isId } from '../../platform/db/ids.ts';
import { type Failure, invalidAt } from '../../platform/errors/failure.ts';
import { Page } from '../request/route.ts';

/** The query parameters of every paginated list; spread them into the schema of its query. */
export const pageQuery = {
  after: Type.Optional(
    Type.String({
      maxLength: 512,
      description: 'The `nextCursor` of the previous page, with the same filters.',
    }),
  ),
  limit: Type.Integer({
    minimum: 1,
    maximum: 100,
    default: 50,
    description: 'The most items of a page.',
  }),
};

/** One request for a page of a list. */
export interface ListRequest {
  /** The list that a cursor belongs to: `emails`, `webhooks/wh_…/deliveries`. */
  readonly list: string;
  /**
   * The owner of the list. A cursor of another workspace or environment would start at a meaningless
   * position.
   */
  readonly caller: { readonly workspaceId: string; readonly livemode: boolean };
  /**
   * True when a text can be a position in this list. Any other content of a forged cursor never reaches the
   * database.
   */
  readonly isPosition: (text: string) => boolean;
  /** The whole query of the request. Every member except `after` and `limit` counts as a filter. */
  readonly query: { readonly after?: string; readonly limit: number } & Readonly<Record<string, unknown>>;
}

const BAD_CURSOR = invalidAt(
  '/query/after',
  'Send the nextCursor of the same list with the same filters, unchanged.',
);

/** Recognises the positions of a list that is ordered by the ids of its items. */
export const byId =
  (prefix: IdPrefix): ListRequest['isPosition'] =>
  (text) =>
    isId(prefix, text);

/**
 * Bytes that bind a cursor to its list. They catch mistakes, not attacks: a forged cursor only starts
 * elsewhere in the caller's own list.
 */
const BINDING = 6;

/**
 * The position after which the page begins; null for the first page, and a 422 for the cursor of another
 * list.
 */
export function positionOf(request: ListRequest): string | null | Failure {
  const { isPosition, query } = request;
  if (query.after === undefined) return null;
  const bytes = Buffer.from(query.after, 'base64url');
  if (bytes.toString('base64url') !== query.after || bytes.length <= BINDING) return BAD_CURSOR;
  if (!bytes.subarray(0, BINDING).equals(bindingOf(request))) return BAD_CURSOR;
  const position = bytes.subarray(BINDING).toString();
  return position.isWellFormed() && !position.includes('\0') && isPosition(position) ? position : BAD_CURSOR;
}

/**
 * Makes a page of the rows that were read from that position on. One row more than the limit shows that
 * another page follows, without a count.
 */
export function pageOf<Row, Item>(
  request: ListRequest,
  rows: readonly Row[],
  position: (row: Row) => string,
  item: (row: Row) => Item,
): Page<Item> {
  const { limit } = request.query;
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  const hasMore = rows.length > limit;
  const nextCursor = hasMore && last !== undefined ? cursorOf(request, position(last)) : null;
  return new Page(shown.map(item), { hasMore, nextCursor });
}

/**
 * Makes a page of a log without an end, so that its cursor is never null. When no more rows exist yet, the
 * cursor is `end`, the position up to which everything was read.
 */
export function logPageOf<Row, Item>(
  request: ListRequest,
  rows: readonly Row[],
  position: (row: Row) => string,
  item: (row: Row) => Item,
  end: string,
): Page<Item> {
  const page = pageOf(request, rows, position, item);
  if (page.pagination.hasMore) return page;
  const nextCursor = cursorOf(request, end);
  return new Page(page.data, { hasMore: false, nextCursor });
}

/**
 * Makes a page of a list that is searched in parts. A search may stop before the page is full: the cursor is
 * then `stoppedAt`, the position up to which every row was examined; null when the search reached the end.
 */
export function searchPageOf<Row, Item>(
  request: ListRequest,
  rows: readonly Row[],
  position: (row: Row) => string,
  item: (row: Row) => Item,
  stoppedAt: string | null,
): Page<Item> {
  const page = pageOf(request, rows, position, item);
  if (page.pagination.hasMore || stoppedAt === null) return page;
  const nextCursor = cursorOf(request, stoppedAt);
  return new Page(page.data, { hasMore: true, nextCursor });
}

function cursorOf(request: ListRequest, position: string): string {
  return Buffer.concat([bindingOf(request), Buffer.from(position)]).toString('base64url');
}

function bindingOf({ list, caller: { workspaceId, livemode }, query }: ListRequest): Buffer {
  const { after: _, limit: __, ...filters } = query;
  const named = Object.entries(filters).sort(([a], [b]) => (a < b ? -1 : 1));
  const hash = new Bun.CryptoHasher('sha256')
    .update(JSON.stringify([workspaceId, livemode, list, named]))
    .digest();
  return hash.subarray(0, BINDING);
}
