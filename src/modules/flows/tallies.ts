import type { Database } from '../../db/database.ts';
import type { Duty, DutyDeps } from '../../duties/duty.ts';

/** Stands for the step where runs are counted, and not what a step came to. */
export const OF_RUNS = '';
/** How the beginning of a run is counted. */
export const ENTERED = 'entered';

/** SQL that counts rows: `what` gives a step and an outcome over them. */
export const tallied = (source: string, step: string, outcome: string, sign: '' | '-' = ''): string =>
  `select flow_id, ${step}, ${outcome}, ${sign}count(*) from ${source} group by 1, 2, 3`;

/** SQL that writes what was counted. */
export const TALLY = 'insert into flow_tallies (flow_id, step, outcome, count)';

const COUNTED = `select step, outcome, sum(count)::integer as count from flow_tallies where flow_id = $1
  group by step, outcome having sum(count) <> 0
union all select '', 'running', count(*)::integer from flow_runs where flow_id = $1 and status = 'running'
order by step, outcome limit 2000`;

/** One count of a flow. */
export interface Counted {
  readonly step: string;
  readonly outcome: string;
  readonly count: number;
}

/** Reads what was counted of a flow, and how many of its runs are at work, at one moment. @throws Unavailable */
export const readTallies = (database: Pick<Database, 'query'>, flowId: string): Promise<Counted[]> =>
  database.query<Counted>(COUNTED, [flowId]);

/** The most rows that one statement adds up. */
const BATCH = 10_000;

/**
 * Many rows become one, in one statement: whoever adds up meanwhile sees all of the old ones or the new one. The rows are told by
 * their places, and a second duty that has chosen the same passes over those that another transaction holds.
 */
const ADD_UP = `with chosen as materialized (
  select t.ctid as place from flow_tallies t where (t.flow_id, t.step, t.outcome) in (
    select flow_id, step, outcome from flow_tallies group by flow_id, step, outcome having count(*) > 1 limit 200
  ) limit ${BATCH} for update skip locked
), gone as (
  delete from flow_tallies t using chosen c where t.ctid = c.place returning t.*
), added as (
  ${TALLY} select flow_id, step, outcome, sum(count) from gone group by flow_id, step, outcome having sum(count) <> 0
)
select count(*)::integer as rows from gone`;

/** Adds what was counted of flows up, so that reading it stays cheap. */
export const flowTallyAccountant = ({ database }: Pick<DutyDeps, 'database'>): Duty => ({
  name: 'flowTallyAccountant',
  pattern: '5-59/10 * * * * *',
  async run(stop) {
    while (!stop?.aborted && (await database.query<{ rows: number }>(ADD_UP))[0]?.rows === BATCH);
  },
});
