import { TtlCache } from '../../async/ttl-cache.ts';
import type { MonotonicClock } from '../../time/monotonic.ts';
import type { Database } from '../database.ts';
import { DISTRIBUTED } from './catalogue.ts';
import { isDistributedDatabase } from './present.ts';

/**
 * A shard may be cut in two while the service runs: a statement for both of its halves is refused meanwhile,
 * and tried again.
 */
const KNOWN_MS = 10_000;
const MOST_KNOWN = 100_000;
/** Groups worked on at once, so that one batch leaves connections for others. */
const AT_ONCE = 4;

const WHICH = `select get_shard_id_for_distribution_column('${DISTRIBUTED[0]?.table}', w) as shard from unnest($1::text[]) w`;

/** Knows which workspaces lie together. */
export class Shards {
  readonly #known: TtlCache<string>;

  constructor(
    private readonly database: Pick<Database, 'query'>,
    monotonic: MonotonicClock,
  ) {
    this.#known = new TtlCache({
      forMs: () => KNOWN_MS,
      sharedMs: KNOWN_MS,
      atMost: MOST_KNOWN,
      monotonic,
    });
  }

  /**
   * The items, those together whose workspaces have one shard, in the order in which they came. @throws
   * UnavailableError
   */
  async groups<Item>(
    items: readonly Item[],
    workspaceOf: (item: Item) => string,
  ): Promise<readonly (readonly Item[])[]> {
    const workspaces = [...new Set(items.map(workspaceOf))];
    const shards = new Map(
      await Promise.all(workspaces.map(async (each) => [each, await this.#shardOf(each)] as const)),
    );
    return [...Map.groupBy(items, (item) => shards.get(workspaceOf(item))).values()];
  }

  #shardOf(workspace: string): Promise<string> {
    return this.#known.get(workspace, async () => {
      const [row] = await this.database.query<{ shard: string | number }>(WHICH, [[workspace]]);
      return String(row?.shard);
    });
  }
}

/** Null on one server. @throws HalfDistributed */
export const openShards = async (database: Database, monotonic: MonotonicClock): Promise<Shards | null> =>
  (await isDistributedDatabase(database)) ? new Shards(database, monotonic) : null;

/**
 * Does something for each group of items, a few at a time; answers in the order of the groups. Rejects with
 * the first failure, once all have ended.
 */
export async function forEachGroup<Item, Result>(
  groups: readonly (readonly Item[])[],
  work: (group: readonly Item[]) => Promise<Result>,
): Promise<readonly Result[]> {
  const results: Promise<Result>[] = [];
  const turns = groups.entries();
  const take = async (): Promise<void> => {
    for (const [index, group] of turns) {
      const working = work(group);
      results[index] = working;
      await working.catch(() => {});
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, take));
  return Promise.all(results);
}
