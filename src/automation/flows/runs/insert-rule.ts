import { keptContactSql } from '../../../audience/contacts/queries.ts';
import type { InsertRule } from '../../../http/module.ts';

const OF_RUNS = 'flow_run_id is not null';

/**
 * The email of a step is accepted while its run goes on and its contact exists, or not at all: a request that
 * cancels the run, or forgets the contact, waits for the statement, and from its answer on nothing is sent
 * for the run any more. The contacts are locked first, and then the runs, each in the order of their ids as
 * everywhere: in the order of the contacts, the runs deadlocked with commits of runs.
 */
export const flowInsertRule: InsertRule = {
  of: 'email',
  columns: 'flow_run_id text, flow_contact_id text',
  conditions: [
    {
      name: 'flow_contact_is_there',
      judged: OF_RUNS,
      sql: (input) => `select i.ord from (
    select ord, workspace_id, livemode, flow_contact_id from ${input} where ${OF_RUNS} order by flow_contact_id
  ) i ${keptContactSql(['i.workspace_id', 'i.livemode', 'i.flow_contact_id'])}`,
    },
    {
      name: 'flow_goes_on',
      judged: OF_RUNS,
      // All runs of a flow are ended by one write of the flow, and by theirs only after it was answered.
      sql: (input) => `select i.ord from (
    select ord, flow_run_id from ${input} where ${OF_RUNS} order by flow_run_id
  ) i cross join lateral (
    select from flow_runs r where r.id = i.flow_run_id and r.ended_at is null and not exists (
      select from flows f where f.id = r.flow_id and (f.deleted_at is not null or r.started_at <= f.cancels_before)
    ) for share of r
  ) r`,
    },
  ],
  writes: [],
};

/**
 * A run begins while its flow is active, or not at all: a request that pauses the flow waits for the
 * statement, and from its answer on nothing begins. The occurrences were looked at before.
 */
export const runInsertRule: InsertRule = {
  of: 'flowRun',
  columns: 'begins_flow_id text',
  conditions: [
    {
      name: 'flow_is_active',
      judged: 'begins_flow_id is not null',
      sql: (input) => `select i.ord from (
    select ord, begins_flow_id from ${input} where begins_flow_id is not null order by begins_flow_id
  ) i cross join lateral (
    select from flows f where f.id = i.begins_flow_id and f.status = 'active' and f.deleted_at is null for share of f
  ) f`,
    },
  ],
  writes: [],
};
