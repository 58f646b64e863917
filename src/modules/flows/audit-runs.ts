import type { AnyStateMachine } from 'xstate';
import { compileFlow } from '../../../machines/flow-run.ts';
import { type Audit, auditActors } from '../../audit/actors.ts';
import { flowRunKind } from './kind.ts';
import { definitionReader } from './run-reader.ts';

/** What must never be, whatever crashed: two mails of one visit, a run that has begun twice, a log that its run does not know. */
const NEVER = [
  {
    what: 'two open runs of one flow',
    sql: `select min(id) as id from flow_runs where ended_at is null group by flow_id, contact_id having count(*) > 1`,
  },
  {
    what: 'a step in the log that it has not come to',
    sql: `select distinct r.id from flow_runs r join flow_run_log l on l.run_id = r.id
      where l.visit > (r.context ->> 'visit')::integer`,
  },
  {
    what: 'one email for two steps',
    sql: `select min(run_id) as id from flow_run_log where email_id is not null group by email_id having count(*) > 1`,
  },
] as const;

/** Checks the runs of flows, each against the machine of its own version. */
export async function auditRuns(audit: Audit): Promise<void> {
  const { session, findings } = audit;
  const definitionOf = definitionReader(session);
  const machines = new Map<string, AnyStateMachine | null>();
  const machineOf = async (id: string): Promise<AnyStateMachine | null> => {
    const known = machines.get(id);
    if (known !== undefined) return known;
    const definition = await definitionOf(id);
    const machine = definition && compileFlow(definition);
    // An audit may meet any number of versions.
    if (machines.size >= 200) machines.clear();
    machines.set(id, machine);
    return machine;
  };
  await auditActors(audit, flowRunKind, '', undefined, machineOf);
  for (const { what, sql } of NEVER)
    for (const { id } of await session.query<{ id: string }>(sql)) findings.wrong('flows', id, what);
}
