import type { FlowRunContext } from '../../../machines/flow-run/context.ts';
import { FLOW_RUN_STATES, FLOW_RUN_VERSION, flowRunMachine } from '../../../machines/flow-run/machine.ts';
import { defineKind, type EffectMeanings, type FactTable } from '../../engine/machine/kind.ts';
import { ENTERED, OF_RUNS, TALLY, tallied } from './runs/tallies.ts';

const log: FactTable = {
  name: 'flow_log',
  columns: 'visit integer, step text, at timestamptz, outcome text, email_id text',
  sql: (source) => `insert into flow_run_log (run_id, visit, flow_id, step, at, outcome, email_id)
    select s.actor, s.visit, s.flow_id, s.step, s.at, s.outcome, s.email_id from ${source} s
    returning flow_id, step, outcome`,
  followedBy: `flow_log_tallied as (${TALLY} ${tallied('flow_log', 'step', 'outcome')})`,
};

const ended: FactTable = {
  name: 'flow_ended',
  columns: 'status text',
  sql: (source) => `${TALLY} ${tallied(`${source} s`, `'${OF_RUNS}'`, 'status')}`,
};

const effects: EffectMeanings<typeof flowRunMachine> = {
  perform: { order: true },
  log: {
    fact: log.name,
    rows: ({ visit, step, at, outcome, emailId }) => [
      { visit, step, at: new Date(at).toISOString(), outcome, email_id: emailId },
    ],
  },
  end: { fact: ended.name, rows: ({ status }) => [{ status }] },
};

/** Written beside a new run: a flow that allows no second time remembers each contact that has begun it. */
const ENTRANTS = [
  (source: string) => `insert into flow_entrants (flow_id, contact_id)
    select flow_id, contact_id from ${source} where is_once order by flow_id, contact_id`,
  (source: string) => `insert into flow_entrants (flow_id, contact_id)
    select flow_id, contact_id from ${source} where not is_once order by flow_id, contact_id
    on conflict (flow_id, contact_id) do nothing`,
];

const COUNTED = (source: string) => `${TALLY} ${tallied(source, `'${OF_RUNS}'`, `'${ENTERED}'`)}`;

export const flowRunKind = defineKind({
  name: 'flowRun',
  table: 'flow_runs',
  idPrefix: 'run',
  machine: flowRunMachine,
  hasDefinitions: true,
  hasOwnTime: (context) => (context as FlowRunContext).testClockId !== undefined,
  states: FLOW_RUN_STATES,
  version: FLOW_RUN_VERSION,
  derived: [
    { name: 'status', type: 'text', of: ({ status }: FlowRunContext) => status },
    { name: 'step', type: 'text', of: ({ step }: FlowRunContext) => step },
    { name: 'awaits', type: 'text', of: ({ awaits }: FlowRunContext) => awaits },
    {
      name: 'ended_at',
      type: 'timestamptz',
      of: ({ endedAt }: FlowRunContext) => (endedAt === null ? null : new Date(endedAt).toISOString()),
    },
  ],
  spawn: {
    columns: `started_at timestamptz, test_clock_id text, clock_started_at timestamptz, flow_id text, flow_version integer, contact_id text, occurrence_key text, is_watched boolean, is_once boolean`,
    insertColumns: [
      'started_at',
      'test_clock_id',
      'clock_started_at',
      'flow_id',
      'flow_version',
      'contact_id',
      'occurrence_key',
      'is_watched',
    ],
    insertInto: [...ENTRANTS, COUNTED],
  },
  actorColumnsForFacts: ['flow_id'],
  facts: [log, ended],
  children: [],
  journal: 'flow_run_journal',
  effects,
});
