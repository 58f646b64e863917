import type { Duty, DutyDeps } from '../../../engine/duties/duty.ts';
import { tallyAccountant } from '../../../engine/duties/tally-accountant.ts';
import type { Database } from '../../../platform/db/database.ts';

/** Takes the place of the step where runs are counted, and not the outcome of a step. */
export const OF_RUNS = '';
/** The outcome that counts the beginnings of runs. */
export const ENTERED = 'entered';

/** SQL that counts rows: `what` gives a step and an outcome over them. */
export const tallied = (source: string, step: string, outcome: string, sign: '' | '-' = ''): string =>
  `select flow_id, ${step}, ${outcome}, ${sign}count(*) from ${source} group by 1, 2, 3`;

/** SQL that writes the counts. */
export const TALLY = 'insert into flow_tallies (flow_id, step, outcome, count)';

const COUNTED = `select step, outcome, sum(count)::integer as count from flow_tallies where flow_id = $1
  group by step, outcome having sum(count) <> 0
union all select '', 'running', count(*)::integer from flow_runs where flow_id = $1 and status = 'running'
order by step, outcome limit 2000`;

export interface FlowCount {
  readonly step: string;
  readonly outcome: string;
  readonly count: number;
}

/**
 * Reads the counts of a flow, and the number of its runs at work, at one moment.
 * @throws UnavailableError
 */
export const readTallies = (database: Pick<Database, 'query'>, flowId: string): Promise<FlowCount[]> =>
  database.query<FlowCount>(COUNTED, [flowId]);

/** Sums the counts of flows, so that reading them stays cheap. */
export const flowTallyAccountant = (deps: Pick<DutyDeps, 'database'>): Duty =>
  tallyAccountant(deps, {
    name: 'flowTallyAccountant',
    pattern: '5-59/10 * * * * *',
    tallies: {
      table: 'flow_tallies',
      keys: ['flow_id', 'step', 'outcome'],
      sums: ['count'],
      having: 'sum(count) <> 0',
    },
  });
