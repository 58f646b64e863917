import type { Database } from '../../db/database.ts';
import type { Kind } from '../../engine/kind.ts';

/** The states that an index on (workspace_id, livemode, state, …) covers; `all` when it covers every one. */
export type IndexedStates = ReadonlySet<string> | 'all';

/**
 * Finds the states of a kind that can be counted and listed without reading the table. The database's catalogue tells, so a
 * migration that adds an index needs no change here.
 */
export async function indexedStates(database: Database, { table }: Kind): Promise<IndexedStates> {
  const indexes = await database.query<{ columns: string; predicate: string | null }>(
    `select pg_get_indexdef(i.indexrelid) as columns, pg_get_expr(i.indpred, i.indrelid) as predicate
     from pg_index i where i.indrelid = $1::text::regclass`,
    [table],
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

/** The number of 8 kB pages of a table, which is known at once, with or without statistics. */
export async function pagesOf(database: Database, { table }: Kind): Promise<number> {
  const [row] = await database.query<{ pages: number }>(
    `select (pg_relation_size($1::text::regclass) / 8192)::float8 as pages`,
    [table],
  );
  return row?.pages ?? 0;
}

const GROUPS = 'workspace_id, livemode, state';

/** SQL that counts all actors, or those on a share of the pages. */
export const countStatement = ({ table }: Kind, percent: number | null): string =>
  percent === null
    ? `select ${GROUPS}, count(*)::float8 as count from ${table} group by 1, 2, 3`
    : `select ${GROUPS}, round(count(*) * ${(100 / percent).toFixed(6)})::float8 as count
       from ${table} tablesample system (${percent.toFixed(6)}) repeatable (7) group by 1, 2, 3`;

/** SQL that counts at most `most` matching rows. A result of `most` means that there may be more. */
export const cappedStatement = ({ table }: Kind, condition: string, most: number): string =>
  `select ${GROUPS}, count(*)::float8 as count
   from (select ${GROUPS} from ${table} where ${condition} limit ${most}) w group by 1, 2, 3`;
