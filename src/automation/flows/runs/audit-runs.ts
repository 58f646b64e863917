import type { AnyStateMachine } from 'xstate';
import { compileFlow } from '../../../../machines/flow-run/machine.ts';
import { type Audit, auditActors } from '../../../engine/audit/actors.ts';
import { LruMap } from '../../../platform/async/lru-map.ts';
import { flowRunKind } from '../kind.ts';
import { definitionReader } from './run-reader.ts';
import { ENTERED, OF_RUNS, tallied } from './tallies.ts';

/**
 * States that must never occur, even after a crash: two mails of one visit, a run that has begun twice, a log
 * that its run does not know.
 */
const NEVER = [
  {
    what: 'two open runs of one flow',
    sql: `select min(id) as id from flow_runs where ended_at is null group by flow_id, contact_id having count(*) > 1`,
  },
  {
    what: 'a log entry for a step that the run has not reached',
    sql: `select distinct r.id from flow_runs r join flow_run_log l on l.run_id = r.id
      where l.visit > (r.context ->> 'visit')::integer`,
  },
  {
    what: 'one email for two steps',
    sql: `select min(run_id) as id from flow_run_log where email_id is not null group by email_id having count(*) > 1`,
  },
] as const;

/** The stored counts beside those of the rows, flow by flow: two ways to the same numbers. */
const COUNTED = `with counted as (
  select flow_id, step, outcome, sum(count) as count from flow_tallies group by flow_id, step, outcome
), stored as (
  ${tallied('flow_run_log', 'step', 'outcome')}
  union all ${tallied('flow_runs', `'${OF_RUNS}'`, `'${ENTERED}'`)}
  union all ${tallied('flow_runs where ended_at is not null', `'${OF_RUNS}'`, 'status')}
), named as (
  select flow_id, step, outcome, count as stored from stored as s(flow_id, step, outcome, count)
)
select coalesce(c.flow_id, n.flow_id) as id, coalesce(c.step, n.step) as step, coalesce(c.outcome, n.outcome) as outcome,
  coalesce(c.count, 0)::integer as counted, coalesce(n.stored, 0)::integer as stored
from counted c full join named n on n.flow_id = c.flow_id and n.step = c.step and n.outcome = c.outcome
where coalesce(c.count, 0) <> coalesce(n.stored, 0) limit 100`;

interface CountedRow {
  readonly id: string;
  readonly step: string;
  readonly outcome: string;
  readonly counted: number;
  readonly stored: number;
}

/** Checks the runs of flows, each against the machine of the version that it runs. */
export async function auditRuns(audit: Audit): Promise<void> {
  const { session, findings } = audit;
  const definitionOf = definitionReader(session);
  // An audit may meet any number of versions.
  const machines = new LruMap<string, AnyStateMachine | null>({ entries: 200 });
  const machineOf = async (id: string): Promise<AnyStateMachine | null> => {
    const known = machines.get(id);
    if (known !== undefined) return known;
    const definition = await definitionOf(id);
    const machine = definition && compileFlow(definition);
    machines.set(id, machine);
    return machine;
  };
  await auditActors(audit, flowRunKind, '', undefined, machineOf);
  for (const { what, sql } of NEVER)
    for (const { id } of await session.query<{ id: string }>(sql)) findings.wrong('flows', id, what);
  for (const { id, step, outcome, counted, stored } of await session.query<CountedRow>(COUNTED))
    findings.wrong(
      'flows',
      id,
      `${step} ${outcome}: the counts say ${counted}, the rows say ${stored}`.trim(),
    );
}
