import { keptContactSql } from '../contacts/queries.ts';
import type { BirthRule } from '../module.ts';

const OF_RUNS = 'flow_run_id is not null';

/**
 * The email of a step is accepted while its run goes on and its contact is there, or not at all: whoever cancels the run, or forgets the
 * contact, waits for the statement, and from the answer on nothing is sent for it any more.
 */
export const flowBirths: BirthRule = {
  of: 'email',
  columns: 'flow_run_id text, flow_contact_id text',
  conditions: [
    {
      name: 'flow_goes_on',
      judged: OF_RUNS,
      // In the order of their keys: two statements that lock in any other would deadlock.
      sql: (input) => `select i.ord from (
    select ord, workspace_id, livemode, flow_run_id, flow_contact_id from ${input} where ${OF_RUNS}
    order by flow_contact_id, flow_run_id
  ) i ${keptContactSql(['i.workspace_id', 'i.livemode', 'i.flow_contact_id'])}
  cross join lateral (
    select from flow_runs r where r.id = i.flow_run_id and r.ended_at is null for share
  ) r`,
    },
  ],
  writes: [],
};
