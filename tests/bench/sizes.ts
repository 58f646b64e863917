import type postgres from 'postgres';

interface Size {
  readonly table: string;
  readonly heap: number;
  readonly indexes: number;
  readonly live: number;
  readonly dead: number;
}

/** Partitions count as their table. */
const SIZES = `select coalesce(parent.relname, c.relname) as table,
  sum(pg_table_size(c.oid))::float8 as heap, sum(pg_indexes_size(c.oid))::float8 as indexes,
  sum(s.n_live_tup)::float8 as live, sum(s.n_dead_tup)::float8 as dead
from pg_class c join pg_stat_user_tables s on s.relid = c.oid
left join pg_inherits i on i.inhrelid = c.oid left join pg_class parent on parent.oid = i.inhparent
where c.relkind = 'r'
group by 1 having sum(s.n_live_tup + s.n_dead_tup) > 1000 order by sum(pg_total_relation_size(c.oid)) desc`;

const mb = (bytes: number): string => (bytes / 1e6).toFixed(0);
const count = (tuples: number): string => Math.round(tuples).toLocaleString('en');

/**
 * The size of the tables, as a Markdown table: MB of rows and of indexes, tuples alive and dead as PostgreSQL
 * counts them.
 */
export async function printSizes(sql: postgres.Sql, what: string): Promise<string> {
  // Backends hand their counts in when they are idle, at the latest after a second.
  await Bun.sleep(1_500);
  const sizes = await sql.unsafe<Size[]>(SIZES);
  const total = sizes.reduce((sum, { heap, indexes }) => sum + heap + indexes, 0);
  return [
    `${what}: ${mb(total)} MB.`,
    '',
    '| table | rows MB | indexes MB | live | dead |',
    '|---|---|---|---|---|',
    ...sizes.map(
      ({ table, heap, indexes, live, dead }) =>
        `| ${table} | ${mb(heap)} | ${mb(indexes)} | ${count(live)} | ${count(dead)} |`,
    ),
  ].join('\n');
}
