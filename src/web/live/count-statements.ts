import type { Kind } from '../../engine/machine/kind.ts';
import { keptSql } from '../../engine/store/kept-births-sql.ts';
import { TOOK_STEP } from '../../engine/store/statements/life-statements.ts';
import type { Database } from '../../platform/db/database.ts';

/** The states that an index on (workspace_id, livemode, state, …) covers; `all` when it covers every one. */
export type IndexedStates = ReadonlySet<string> | 'all';

/**
 * Finds the states of a kind that can be counted and listed without reading the table. The database's catalogue tells, so a
 * migration that adds an index needs no change here.
 */
export async function indexedStates(database: Database, { table, life }: Kind): Promise<IndexedStates> {
  const indexes = await database.query<{ columns: string; predicate: string | null }>(
    `select pg_get_indexdef(i.indexrelid) as columns, pg_get_expr(i.indpred, i.indrelid) as predicate
     from unnest($1::text[]) t(name) join pg_index i on i.indrelid = t.name::regclass`,
    [life ? [life.turns, life.due] : [table]],
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
export async function pagesOf(database: Database, { table, life }: Kind): Promise<number> {
  const [row] = await database.query<{ pages: number }>(
    `select (sum(pg_relation_size(t.relid)) / 8192)::float8 as pages from pg_partition_tree($1::text::regclass) t
     where t.isleaf`,
    [life?.births ?? table],
  );
  return row?.pages ?? 0;
}

const GROUPS = 'workspace_id, livemode, state';

/** SQL that counts all actors, or those on a share of the pages. */
export function countStatement(kind: Kind, percent: number | null): string {
  const { table, life } = kind;
  if (percent === null) return `select ${GROUPS}, count(*)::float8 as count from ${table} group by 1, 2, 3`;
  const sample = `tablesample system (${percent.toFixed(6)}) repeatable (7)`;
  const sampled = life
    ? `(select b.workspace_id, b.livemode, coalesce(t.state, b.state) as state from ${life.births} b ${sample}
       left join lateral (
         select l.state from ${life.turns} l where l.email_id = b.id order by l.revision desc limit 1
       ) t on true) s`
    : `${table} ${sample}`;
  return `select ${GROUPS}, round(count(*) * ${(100 / percent).toFixed(6)})::float8 as count
       from ${sampled} group by 1, 2, 3`;
}

/** SQL that counts at most `most` matching rows of a relation. A result of `most` means that there may be more. */
export const cappedStatement = (relation: string, condition: string, most: number): string =>
  `select ${GROUPS}, count(*)::float8 as count
   from (select ${GROUPS} from ${relation} where ${condition} limit ${most}) w group by 1, 2, 3`;

/**
 * The relation that has the actors of a state without a search. For a kind with appended lives, waiting
 * actors are in one table and the turns that led to a rare end in another. The caller names it.
 */
export const relationOf = (
  { table, life }: Kind,
  isTimed: boolean,
): { readonly name: string; readonly id: string } =>
  life
    ? isTimed
      ? { name: life.due, id: 'id' }
      : { name: `(select * from ${life.turns} where ${TOOK_STEP})`, id: 'email_id' }
    : { name: table, id: 'id' };

/**
 * The actors that wait for a timer, with those that an instance keeps, of which neither the index on wake-up times nor the table of
 * what is due knows anything. Without lives that are appended an index on the state has the kept ones as well.
 */
export function waitingRelation(kind: Kind, isIndexed: boolean): string {
  const { name } = relationOf(kind, true);
  const hasKept = isIndexed && !kind.life;
  const waiting = `select ${GROUPS} from ${name}${isIndexed ? '' : ' where wake_at is not null'}`;
  const kept = hasKept ? null : keptSql(kind, GROUPS);
  return kept === null ? `(${waiting}) waiting` : `(${waiting} union all ${kept}) waiting`;
}
