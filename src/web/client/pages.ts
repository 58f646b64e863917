import type { CallOptions, Operation, Send } from './call.ts';
import type { Operations } from './operations.ts';
import { wait } from './retries.ts';

/** One page of a list. */
export interface Page<Item> {
  readonly data: readonly Item[];
  readonly hasMore: boolean;
  /** The value of `after` for the next page. */
  readonly nextCursor: string | null;
}

/** A list that is read while it is walked: `for await (const item of list)`. */
export interface Pages<Item> extends AsyncIterable<Item> {
  /** Page by page. */
  pages(): AsyncIterable<Page<Item>>;
  /** The first page alone. */
  first(): Promise<Page<Item>>;
  /** The items up to a number. */
  take(most: number): Promise<Item[]>;
}

/** The operations that answer with pages. */
export type PagedOperation = {
  [Op in Operation]: Operations[Op]['isList'] extends true ? Op : never;
}[Operation];

type ItemOf<Op extends Operation> = Operations[Op]['data'] extends readonly (infer Item)[] ? Item : never;

/** The list of an operation. It sends no request before it is read. */
export function listOf<Op extends PagedOperation>(
  send: Send,
  operation: Op,
  given: { readonly path?: Readonly<Record<string, string>>; readonly query?: object | undefined },
  options?: CallOptions,
): Pages<ItemOf<Op>> {
  const page = async (after: string | null): Promise<Page<ItemOf<Op>>> => {
    const query = { ...given.query, ...(after !== null && { after }) };
    const { data, pagination } = await send(operation, { ...given, query }, options);
    return { data: data as readonly ItemOf<Op>[], hasMore: false, nextCursor: null, ...pagination };
  };
  async function* pages(): AsyncGenerator<Page<ItemOf<Op>>> {
    let after: string | null = null;
    for (;;) {
      const read: Page<ItemOf<Op>> = await page(after);
      yield read;
      // A cursor that does not advance would make the list endless.
      if (!read.hasMore || read.nextCursor === null || read.nextCursor === after) return;
      after = read.nextCursor;
    }
  }
  async function* items(): AsyncGenerator<ItemOf<Op>> {
    for await (const { data } of pages()) yield* data;
  }
  return {
    [Symbol.asyncIterator]: items,
    pages,
    first: () => page(null),
    async take(most) {
      const taken: ItemOf<Op>[] = [];
      if (most > 0)
        for await (const item of items()) {
          taken.push(item);
          if (taken.length >= most) break;
        }
      return taken;
    },
  };
}

/** The options for following the event log. */
export interface FollowOptions {
  /** The cursor of the last page that was processed; without it, the log is read from its beginning. */
  readonly after?: string | undefined;
  /** `end` without a cursor: only what happens from now on. */
  readonly from?: 'end' | undefined;
  /** Only these types, separated by commas. */
  readonly types?: string | undefined;
  /** Milliseconds between two reads of a log without new events; 1,000 by default. */
  readonly everyMs?: number | undefined;
  /** Ends it. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * The pages of a log as it grows, without end: each holds what is new, and the cursor to keep once it was
 * dealt with. The first one from the end is empty, and has the cursor.
 */
export async function* follow(
  send: Send,
  { after, from, types, everyMs = 1_000, signal }: FollowOptions = {},
): AsyncGenerator<Page<ItemOf<'GET /events'>>> {
  let cursor = after ?? null;
  for (;;) {
    const query = { limit: 100, types, ...(cursor === null ? { from } : { after: cursor }) };
    const page = await listOf(send, 'GET /events', { query }, { signal }).first();
    const isNew = page.nextCursor !== cursor;
    cursor = page.nextCursor;
    if (isNew) yield page;
    if (!page.hasMore) await wait(everyMs, signal);
  }
}
