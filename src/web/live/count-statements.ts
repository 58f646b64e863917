import type { Kind } from '../../engine/machine/kind.ts';
import { storeOf } from '../../engine/store/store-of.ts';
import type { Database } from '../../platform/db/database.ts';

/** The states that an index on (workspace_id, livemode, state, …) covers; `all` when it covers every one. */
export type IndexedStates = ReadonlySet<string> | 'all';

/**
 * Finds the states of a kind that can be counted and listed without reading the table. The database's
 * catalogue tells, so a migration that adds an index needs no change here.
 */
export async function indexedStates(database: Database, kind: Kind): Promise<IndexedStates> {
  const indexes = await database.query<{ columns: string; predicate: string | null }>(
    `select pg_get_indexdef(i.indexrelid) as columns, pg_get_expr(i.indpred, i.indrelid) as predicate
     from unnest($1::text[]) t(name) join pg_index i on i.indrelid = t.name::regclass`,
    [storeOf(kind).tablesByState],
  );
  const states = new Set<string>();
  for (const { columns, predicate } of indexes) {
    if (!columns.includes('(workspace_id, livemode, state')) continue;
    if (predicate === null) return 'all';
    if (predicate.includes('state'))
      for (const [, state = ''] of predicate.matchAll(/'(\w+)'::text/g)) states.add(state);
  }
  return states;
}

/** The number of 8 kB pages of a kind's actors, which is known at once, with or without statistics. */
export async function pagesOf(database: Database, kind: Kind): Promise<number> {
  const [row] = await database.query<{ pages: number }>(
    `select (sum(pg_relation_size(t.relid)) / 8192)::float8 as pages from pg_partition_tree($1::text::regclass) t
     where t.isleaf`,
    [storeOf(kind).actorTable],
  );
  return row?.pages ?? 0;
}

const GROUPS = 'workspace_id, livemode, state';

/** SQL that counts all actors, or those on a share of the pages. */
export function countStatement(kind: Kind, percent: number | null): string {
  if (percent === null)
    return `select ${GROUPS}, count(*)::float8 as count from ${kind.table} group by 1, 2, 3`;
  const sampled = storeOf(kind).sampled(`tablesample system (${percent.toFixed(6)}) repeatable (7)`);
  return `select ${GROUPS}, round(count(*) * ${(100 / percent).toFixed(6)})::float8 as count
       from ${sampled} group by 1, 2, 3`;
}

/**
 * SQL that counts at most `most` matching rows of a relation. A result of `most` means that there may be
 * more.
 */
export const cappedStatement = (relation: string, condition: string, most: number): string =>
  `select ${GROUPS}, count(*)::float8 as count
   from (select ${GROUPS} from ${relation} where ${condition} limit ${most}) w group by 1, 2, 3`;

/**
 * The actors that wait for a timer, with those that an instance keeps, of which no index on wake-up times
 * knows.
 */
export const waitingRelation = (kind: Kind, isIndexed: boolean): string =>
  storeOf(kind).waiting(GROUPS, isIndexed);
