import type { Duty, DutyDeps } from './duty.ts';

/**
 * A table of counts. Each commit that counts something writes its own row, so that no commit waits for
 * another's.
 */
export interface Tallies {
  readonly table: string;
  /** The key columns of the counts, in the order of the table's index. */
  readonly keys: readonly string[];
  readonly sums: readonly string[];
  /** The columns of which the greatest value counts. */
  readonly greatest?: readonly string[];
  /** SQL over a group: whether a row is left of it; one is unless stated. */
  readonly having?: string;
}

/** The most rows that one statement adds up, and the most groups that it chooses them from. */
const BATCH = 10_000;
const GROUPS = 200;

/**
 * One statement replaces many rows by their sum: a concurrent sum sees all of the old rows or the new one.
 * Rows are identified by their places (ctid), and a second duty that has chosen the same rows skips those
 * that another transaction holds.
 */
function addUp({ table, keys, sums, greatest = [], having }: Tallies): string {
  const by = keys.join(', ');
  const summed = [...sums.map((name) => `sum(${name})`), ...greatest.map((name) => `max(${name})`)];
  return `with chosen as materialized (
  select t.ctid as place from ${table} t where (${keys.map((key) => `t.${key}`).join(', ')}) in (
    select ${by} from ${table} group by ${by} having count(*) > 1 limit ${GROUPS}
  ) limit ${BATCH} for update skip locked
), gone as (
  delete from ${table} t using chosen c where t.ctid = c.place returning t.*
), added as (
  insert into ${table} (${[by, ...sums, ...greatest].join(', ')})
  select ${[by, ...summed].join(', ')} from gone group by ${by}${having === undefined ? '' : ` having ${having}`}
)
select count(*)::integer as rows from gone`;
}

/** Adds counts up, so that reading them stays cheap. */
export function tallyAccountant(
  { database }: Pick<DutyDeps, 'database'>,
  { tallies, ...times }: Pick<Duty, 'name' | 'pattern'> & { readonly tallies: Tallies },
): Duty {
  const statement = addUp(tallies);
  return {
    ...times,
    asks: () =>
      `exists (select from ${tallies.table} group by ${tallies.keys.join(', ')} having count(*) > 1)`,
    async run(stop) {
      while (!stop?.aborted && (await database.query<{ rows: number }>(statement))[0]?.rows === BATCH);
    },
  };
}
