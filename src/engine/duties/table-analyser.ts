import { afterWork } from './after-work.ts';
import type { Duty, DutyDeps } from './duty.ts';

/**
 * A table is analysed again once it has grown, or changed, by this many rows and by this share of its rows.
 */
const LEAST_CHANGED = 1_000;
const SHARE = 0.1;

const CHANGED = `select s.relname as name from pg_stat_user_tables s join pg_class c on c.oid = s.relid
where s.n_mod_since_analyze > ${LEAST_CHANGED} + ${SHARE} * greatest(c.reltuples, 0)
order by s.n_mod_since_analyze desc limit 1`;

/**
 * All statements wait meanwhile, so it reads few rows: 6,000 show whether most rows of a table meet a
 * condition or some. On a server the properties of contacts get a larger sample (0001_hand_written).
 */
const analyse = (table: string): string => `alter table contacts alter column properties set statistics -1;
set default_statistics_target = 20;
analyze ${table};
reset default_statistics_target`;

/**
 * Lets the embedded database analyse its tables, one at a time. A server does so without help; an embedded
 * one has no background process, and its planner would use the figures of an empty table for ever: it would
 * take a filter that most contacts match for a rare one, and count them all where it should estimate.
 */
export const tableAnalyser = ({ database }: Pick<DutyDeps, 'database'>): Duty => ({
  name: 'tableAnalyser',
  pattern: '15,45 * * * * *',
  run: afterWork(database, async () => {
    const [table] = await database.query<{ name: string }>(CHANGED, [], { isRoutine: true });
    // Its name comes from our migrations.
    if (table) await database.script(analyse(table.name));
    return table === undefined;
  }),
});
