import { forEachGroup, type Shards } from '../../platform/db/distribution/shards.ts';
import { codeOf, isPoison, isRetriable, TOOK_TOO_LONG } from '../../platform/db/sqlstate.ts';
import { UnavailableError } from '../../platform/errors/unavailable.ts';

/**
 * The number of times that a statement which was rolled back by contention runs again before the caller gets
 * the error.
 */
const RETRIES = 3;

/**
 * The options of writing statements, and safeguards that the chaos build leaves out, one at a time, to show
 * that its judge notices.
 */
export interface StatementOptions {
  /** The tables lie on several nodes (db/distribution): statements name the workspaces of their batch. */
  readonly isDistributed?: boolean;
  /** A commit overwrites any revision it finds. */
  readonly withoutRevisionCheck?: boolean;
  /** A spawn stores no reply for its idempotency key: a repeated request is accepted again. */
  readonly withoutStoredReplies?: boolean;
}

/** The result of a try to commit a batch, item by item. */
export type Verdict<Result> =
  | { readonly committed: Result }
  /** The statement failed for this item alone (a constraint, a value PostgreSQL refuses). */
  | { readonly poisoned: unknown }
  /** Not committed, and not this item's fault; or the outcome is unknown. */
  | { readonly failed: unknown };

/** One kind of batch, as the committer needs it. */
export interface Commit<Item, Result> {
  /** Runs the statement for these items; answers one result for each, in order. */
  run(items: readonly Item[]): Promise<readonly Result[]>;
  /**
   * After a lost reply: which of the items are in the database, by reading them back; null where they are not
   * (yet).
   */
  readBack(items: readonly Item[]): Promise<readonly (Result | null)[]>;
}

/**
 * Commits a batch, and finds out what became of it when that is not plain: contention is tried again, poison
 * is found by halving the batch, a lost reply is resolved by reading the rows back.
 */
export async function commitBatch<Item, Result>(
  commit: Commit<Item, Result>,
  items: readonly Item[],
): Promise<readonly Verdict<Result>[]> {
  try {
    const results = await withRetries(() => commit.run(items));
    return results.map((committed) => ({ committed }));
  } catch (error) {
    if (error instanceof UnavailableError && error.applied === 'unknown')
      return readBack(commit, items, error);
    // An error without a code was thrown here, while the statement's input was written: one item's fault as
    // well.
    const isOurs = !(error instanceof UnavailableError) && codeOf(error) === '';
    if (!isPoison(error) && !isOurs) return items.map(() => ({ failed: error }));
    if (items.length === 1) return [{ poisoned: error }];
    const middle = items.length >> 1;
    return [
      ...(await commitBatch(commit, items.slice(0, middle))),
      ...(await commitBatch(commit, items.slice(middle))),
    ];
  }
}

/**
 * The same for each shard of the items' workspaces where tables are distributed: each statement is then for
 * one node.
 */
export async function commitByShard<Item, Result>(
  shards: Shards | null,
  commit: Commit<Item, Result>,
  items: readonly Item[],
  workspaceOf: (item: Item) => string,
): Promise<readonly Verdict<Result>[]> {
  if (!shards) return commitBatch(commit, items);
  try {
    const groups = await shards.groups(items, workspaceOf);
    const verdicts = new Map<Item, Verdict<Result>>();
    await forEachGroup(groups, async (group) => {
      const reached = await commitBatch(commit, group);
      for (const [index, item] of group.entries()) verdicts.set(item, reached[index] as Verdict<Result>);
    });
    return items.map((item) => verdicts.get(item) as Verdict<Result>);
  } catch (error) {
    // The shards could not be looked up: nothing was begun.
    return items.map(() => ({ failed: error }));
  }
}

async function withRetries<T>(run: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await run();
    } catch (error) {
      if (!isRetriable(error)) throw error;
      if (attempt > RETRIES)
        throw new UnavailableError('The database is too contended.', 'no', 1, { cause: error });
    }
  }
}

async function readBack<Item, Result>(
  commit: Commit<Item, Result>,
  items: readonly Item[],
  lost: UnavailableError,
): Promise<readonly Verdict<Result>[]> {
  try {
    const found = await commit.readBack(items);
    return found.map((committed) => (committed === null ? { failed: lost } : { committed }));
  } catch {
    return items.map(() => ({ failed: lost }));
  }
}

/**
 * True when PostgreSQL ended the statement for taking too long: half as many items may succeed. 200 outcomes
 * of emails to 50 recipients, with 20 endpoints to inform, take 10 s at once; repeated all together they
 * would never be stored.
 */
export const hasOverrun = (verdict: Verdict<unknown>): boolean =>
  'failed' in verdict && codeOf(verdict.failed) === TOOK_TOO_LONG;

/**
 * Takes a reply for that of a commit only if it brought the commit's tag along: a driver that lost its place
 * after a reconnect hands out the replies of other statements, and an empty one would pass for success.
 * @throws UnavailableError
 */
export function checkTag(tag: number, brought: string | undefined): void {
  if (brought !== String(tag)) throw new UnavailableError('The reply of a commit was lost.', 'unknown');
}

/** Numbers the batches of one process. */
export class CommitTags {
  #next = (Math.random() * 0x7fffffff) | 0;

  /**
   * A tag that no other recent batch carries, of this process or another: it shows which write made a row.
   */
  next(): number {
    this.#next = (this.#next + 1) & 0x7fffffff;
    return this.#next;
  }
}
