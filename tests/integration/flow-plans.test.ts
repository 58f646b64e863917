import { expect, test } from 'bun:test';
import pino from 'pino';
import type { FlowDefinition } from '../../machines/flow-run/definition.ts';
import { compileFlow } from '../../machines/flow-run/machine.ts';
import { EventRecorder } from '../../src/audience/contacts/activity/event-recorder.ts';
import { flowRunKind } from '../../src/automation/flows/kind.ts';
import { runReader } from '../../src/automation/flows/runs/run-reader.ts';
import { flowTallyAccountant, readTallies } from '../../src/automation/flows/runs/tallies.ts';
import { enroller } from '../../src/automation/flows/triggers/enrol.ts';
import { Follower } from '../../src/automation/flows/triggers/follower.ts';
import {
  cancelRuns,
  releaseRuns,
  runPruner,
  runSettler,
} from '../../src/automation/flows/triggers/settle.ts';
import { Engine } from '../../src/engine/engine.ts';
import { LONGEST_RETENTION } from '../../src/platform/config/settings/settings.ts';
import type { Database, Parameter, QueryOptions } from '../../src/platform/db/database.ts';
import { PostgresDatabase } from '../../src/platform/db/server/postgres.ts';
import { idle, postgresStore, rowsOf, type Store } from '../support/engine.ts';
import { eventually } from '../support/eventually.ts';

// The statements that flows repeat are planned once, on tables that have been empty when they were. None may
// read a table whole then, nor everybody in a flow or in a workspace for each contact. `CONTACTS=1000000
// RUNS=100000` plans them on full tables.

const RUNS = Number(process.env.RUNS ?? 600);
const CONTACTS = Math.max(Number(process.env.CONTACTS ?? 0), RUNS);
const SCOPE = { workspaceId: 'ws_test', livemode: true };
const FLOW = 'flw_000000000000000000000001';
const DATED = 'flw_000000000000000000000002';
const FLOW_TABLES: readonly string[] = [
  'contacts',
  'contact_activity',
  'flow_runs',
  'flow_run_log',
  'flow_run_journal',
  'flow_entrants',
];

const clock = { now: Date.now, monotonic: () => performance.now() };
const definition: FlowDefinition = {
  trigger: { type: 'contactCreated' },
  entry: 'wait',
  reentry: 'never',
  quietHours: null,
  exitWhen: { field: 'properties.plan', operator: 'eq', value: 'gone' },
  steps: [
    {
      key: 'wait',
      type: 'waitForEvent',
      config: { name: 'go', timeout: { amount: 1, unit: 'weeks' } },
    },
    { key: 'mark', type: 'updateContact', config: { firstName: 'Ada' } },
  ],
  edges: [{ from: 'wait', to: 'mark', when: 'event' }],
};
const dated: FlowDefinition = {
  ...definition,
  trigger: { type: 'dateProperty', property: 'born', offsetDays: 0, time: '00:00', repeat: 'yearly' },
};

interface Node {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly 'Index Cond'?: string;
  readonly Plans?: readonly Node[];
}

const nodesOf = (node: Node): readonly Node[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)];

/** A database that notes how each statement comes by the rows of the tables of flows. */
class Watched {
  /** `index: columns that it is asked by`, of each statement that was planned. */
  readonly ways = new Set<string>();
  readonly #seen = new Set<string>();
  readonly kind;
  readonly read;

  constructor(private readonly inner: Database) {
    this.kind = inner.kind;
    this.read = inner.read.bind(inner);
  }

  async query<Row extends object>(
    text: string,
    parameters: readonly Parameter[] = [],
    options: QueryOptions = {},
  ) {
    if (!this.#seen.has(text)) {
      this.#seen.add(text);
      const [row] = await rowsOf<{ 'QUERY PLAN': readonly { readonly Plan: Node }[] }>(
        this.inner,
        `explain (generic_plan, format json) ${text}`,
      );
      for (const node of nodesOf(row?.['QUERY PLAN'][0]?.Plan as Node)) this.#note(node);
    }
    return this.inner.query<Row>(text, parameters, options);
  }

  #note(node: Node): void {
    const index = node['Index Name'];
    const table = node['Relation Name'] ?? FLOW_TABLES.find((name) => index?.startsWith(`${name}_`));
    const isScan = node['Node Type'].includes('Scan') && node['Node Type'] !== 'Bitmap Heap Scan';
    if (table === undefined || !isScan || !FLOW_TABLES.includes(table)) return;
    const columns = [...(node['Index Cond'] ?? '').matchAll(/\(?(\w+)\)? (?:=|>|<|>=|<=) /g)].map(
      ([, name]) => name,
    );
    this.ways.add(`${index ?? `${node['Node Type']} of ${table}`}: ${[...new Set(columns)].join(', ')}`);
  }
}

/** The tables whose plans are looked at. */
const WATCHED = [
  'contacts',
  'contact_activity',
  'flow_entrants',
  'flow_runs',
  'flow_run_journal',
  'flow_run_log',
];

/**
 * A database with two flows that are active, and nothing else; no figures about its tables come by
 * themselves.
 */
async function preparedStore(): Promise<Store> {
  const store = await postgresStore();
  const { database } = store;
  // On a machine that is busy one of its rounds fell between two statements, which were then planned by other
  // figures.
  for (const table of WATCHED) await database.script(`alter table ${table} set (autovacuum_enabled = off)`);
  await database.query(
    `insert into workspaces (id, name, plan, created_at) values ('ws_test', 'Test', 'growth', now())`,
  );
  for (const [id, said, trigger] of [
    [FLOW, definition, 'contactCreated'],
    [DATED, dated, 'dateProperty'],
  ] as const) {
    await database.query(
      `insert into flows (workspace_id, livemode, id, name, status, version, published_version, trigger_type, scanned_to, created_at, updated_at)
       values ('ws_test', true, $1, 'Planned', 'active', 1, 1, $2, now() - interval '1 hour', now(), now())`,
      [id, trigger],
    );
    await database.query(
      `insert into flow_versions (flow_id, version, definition, created_at, published_at) values ($1, 1, $2::text::json, now(), now())`,
      [id, JSON.stringify(said)],
    );
  }
  return store;
}

/** Contacts of those numbers. A million take longer than a statement may. */
const people = (database: Database, from: number, to: number): Promise<void> =>
  database.script(`set local statement_timeout = 0;
    insert into contacts (workspace_id, livemode, id, email, email_key, properties, status, created_at, updated_at)
    select 'ws_test', true, 'con_' || lpad(n::text, 24, '0'), n || '@example.com', n || '@example.com', '{"born":"1990-01-01"}',
      'subscribed', now(), now()
    from generate_series(${from}, ${to}) n`);

/** Something that each of them did. */
const happened = (database: Database, type: string, from: number, to: number): Promise<void> =>
  database.script(`set local statement_timeout = 0;
    insert into contact_activity (contact_id, id, livemode, type, at, subject)
    select 'con_' || lpad(n::text, 24, '0'), 'act_${type}' || n, true, '${type}', now(), 'go' from generate_series(${from}, ${to}) n`);

/** The follower of contacts on a database; `until` runs it until the first flow has so many runs there. */
function partsOver(database: Database) {
  const engine = new Engine({
    database,
    clock,
    logger: pino({ level: 'silent' }),
    kinds: [
      {
        kind: flowRunKind,
        performer: idle,
        machineOf: async (id) => compileFlow(id.startsWith(FLOW) ? definition : dated),
      },
    ],
  });
  const deps = { database, engine, clock };
  const follower = new Follower({ ...deps, enrol: enroller(deps), logger: pino({ level: 'silent' }) });
  const until = (state: string, count: number): Promise<true> =>
    eventually(
      `${count} runs in ${state}`,
      async () => {
        await follower.follow();
        const [row] = await rowsOf<{ n: number }>(
          database,
          'select count(*)::integer as n from flow_runs where flow_id = $1 and state = $2',
          [FLOW, state],
        );
        return row?.n === count || undefined;
      },
      { withinMs: 600_000 },
    );
  return { deps, until };
}

test('the statements of flows go by what is rarest, also where they were planned while there was nothing', async () => {
  await using store = await preparedStore();
  const watched = new Watched(store.database) as unknown as Database & Watched;
  const { deps, until } = partsOver(watched);
  await people(store.database, 1, CONTACTS);
  await happened(store.database, 'created', 1, RUNS);
  await until('wait', RUNS);
  await happened(store.database, 'event', 1, RUNS / 2);
  await until('mark', RUNS / 2);
  const [run] = await rowsOf<{ id: string }>(store.database, 'select id from flow_runs limit 1');
  await runReader(watched).ask(run?.id ?? '');
  await readTallies(watched, FLOW);
  const told = {
    contactId: 'con_000000000000000000000001',
    id: 'act_told',
    name: 'go',
    properties: {},
    reply: '',
    at: new Date().toISOString(),
    keyed: { scope: SCOPE, claim: null, now: Date.now() },
  };
  expect(await new EventRecorder(watched).record(told)).toBe(true);
  await flowTallyAccountant(deps).run();
  await deps.engine.wakeDue();
  await releaseRuns(deps, FLOW);
  await cancelRuns(deps, FLOW);
  await runSettler(deps).run();
  await runPruner({ ...deps, config: LONGEST_RETENTION }).run();
  // Held runs have a separate index: whether it is read whole or flow by flow depends on how many there are.
  const ways = [...watched.ways].filter((way) => way !== 'flow_runs_held: ');
  // By the flow alone only what is about a whole flow.
  expect(ways.sort()).toEqual([
    'contact_activity_by_position: id',
    // Of a contact that has left the audience whose joining began its run.
    'contact_activity_pkey: contact_id',
    'contact_activity_pkey: contact_id, id',
    'contacts_pkey: workspace_id, livemode, id',
    'flow_entrants_pkey: flow_id',
    'flow_entrants_pkey: flow_id, contact_id',
    'flow_run_journal_pkey: actor_id',
    'flow_run_log_pkey: run_id',
    'flow_runs_awaiting: contact_id, awaits',
    'flow_runs_by_contact: contact_id',
    'flow_runs_by_flow: flow_id',
    'flow_runs_by_occurrence: occurrence_key',
    'flow_runs_by_wake_at: wake_at',
    // True while a run is under way.
    'flow_runs_held: flow_id',
    'flow_runs_open: ',
    'flow_runs_open: contact_id',
    'flow_runs_pkey: id',
    'flow_runs_running: flow_id',
    'flow_runs_under_way: flow_id',
    'flow_runs_watched: contact_id',
  ]);
});

test('flows read a few rows for each run, however many there are', async () => {
  await using store = await preparedStore();
  const database = new PostgresDatabase(store.url ?? '');
  const { until } = partsOver(database);
  const runs = 600;
  // Whatever is planned now is kept.
  await people(database, 1, 1);
  await happened(database, 'created', 1, 1);
  await until('wait', 1);
  await people(database, 2, runs);
  await happened(database, 'created', 2, runs);
  await until('wait', runs);
  await happened(database, 'event', 1, runs);
  await until('mark', runs);
  await database.close();
  const read = await eventually('its connections have told what they read', async () => {
    const [row] = await rowsOf<{ others: number; rows: number }>(
      store.database,
      `select (select count(*)::integer from pg_stat_activity where datname = current_database()
           and application_name like 'posthorn%' and application_name <> current_setting('application_name')) as others,
         (select sum(idx_tup_read)::float8 from pg_stat_user_indexes
           where relname in ('contacts', 'contact_activity', 'flow_runs', 'flow_run_log', 'flow_entrants')) as rows`,
    );
    return row?.others === 0 ? row.rows : undefined;
  });
  // Were each compared with everybody in the flow, it would be hundreds.
  expect(read / runs).toBeGreaterThan(3);
  expect(read / runs).toBeLessThan(60);
});
