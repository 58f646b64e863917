import { afterAll, beforeAll, expect, test } from 'bun:test';
import { countContacts } from '../../src/audience/contacts/lists/list.ts';
import { listRuns } from '../../src/automation/flows/runs/runs.ts';
import { READ_FOR_COUNT } from '../../src/http/lists/count.ts';
import { createSigner } from '../../src/platform/crypto/signer.ts';
import type { Parameter } from '../../src/platform/db/database.ts';
import { Failure } from '../../src/platform/errors/failure.ts';
import { countEmails } from '../../src/sending/emails/read/page.ts';
import { listSuppressions } from '../../src/sending/suppressions/queries.ts';
import { postgresStore, type Store } from '../support/engine.ts';

// A count, and a list whose filter has no index, look at ten thousand rows, however many there are: by the
// rows that PostgreSQL says it has read.

const NOW = Date.parse('2026-11-20T12:00:00.000Z');
const ROWS = 60_000;
const FLOW = 'flow_01m70000000000000000000000';
const OWNER = { workspaceId: 'ws_1', livemode: true, isOnNodes: false };

let store: Store;
beforeAll(async () => {
  store = await postgresStore();
  await store.database.query(
    `insert into emails (id, workspace_id, livemode, state, context, machine_version, commit_tag, steps, at, recipients,
       recipient_keys, sender_key, subject, tags, envelope, content)
     select 'em_01m7' || lpad(n::text, 20, '0'), 'ws_1', true, 'delivered', '{}', 1, 1, '[]', now(), '{}', '{}', '',
       'Order ' || n, '{}', '{}', '' from generate_series(1, $1::integer) n`,
    [ROWS],
  );
  await store.database.query(
    `insert into contacts (workspace_id, livemode, id, email, email_key, properties, status, created_at, updated_at)
     select 'ws_1', true, 'con_01m7' || lpad(n::text, 20, '0'), n || '@many.example', n || '@many.example', '{}',
       case when n % 3 = 0 then 'bounced' else 'subscribed' end, now(), now() from generate_series(1, $1::integer) n`,
    [ROWS],
  );
  // The few that bounced are the last in every order.
  await store.database.query(
    `insert into suppressions (workspace_id, address_key, address, reason, created_at)
     select 'ws_1', lpad(n::text, 8, '0') || '@out.example', lpad(n::text, 8, '0') || '@out.example',
       case when n > $1::integer - 3 or n <= 3 then 'bounced' else 'manual' end, now() - n * interval '1 second'
     from generate_series(1, $1::integer) n`,
    [ROWS],
  );
  await store.database.query(
    `insert into workspaces (id, name, plan, created_at) values ('ws_1', 'Acme', 'free', now())`,
    [],
  );
  await store.database.query(
    `insert into flows (workspace_id, livemode, id, name, status, version, created_at, updated_at)
     values ('ws_1', true, $1, 'Welcome', 'active', 1, now(), now())`,
    [FLOW],
  );
  await store.database.query(
    `insert into flow_versions (flow_id, version, definition, created_at) values ($1, 1, '{}', now())`,
    [FLOW],
  );
  // The last three wait.
  await store.database.query(
    `insert into flow_runs (id, workspace_id, livemode, state, context, revision, machine_version, status, step, ended_at,
       started_at, flow_id, flow_version, contact_id, occurrence_key, is_watched)
     select 'run_01m7' || lpad(n::text, 20, '0'), 'ws_1', true, case when n > $1::integer - 3 then 'waiting' else 'completed' end,
       '{}', 1, 1, case when n > $1::integer - 3 then 'waiting' else 'completed' end, 'wait',
       case when n > $1::integer - 3 then null else now() end, now(), $2, 1, 'con_01m7' || lpad(n::text, 20, '0'), n::text, false
     from generate_series(1, $1::integer) n`,
    [ROWS, FLOW],
  );
  await store.database.script('vacuum analyze flow_runs');
  await store.database.script('vacuum analyze suppressions');
  await store.database.script('vacuum analyze emails');
  await store.database.script('vacuum analyze contacts');
});
afterAll(() => store[Symbol.asyncDispose]());

interface Node {
  readonly 'Relation Name'?: string;
  readonly 'Actual Rows'?: number;
  readonly 'Actual Loops'?: number;
  readonly 'Rows Removed by Filter'?: number;
  readonly Plans?: readonly Node[];
}
interface BuiltQuery {
  readonly sql: string;
  readonly params: readonly Parameter[];
}
type Orm = Parameters<Parameters<Store['database']['read']>[0]>[0];
interface Explained {
  readonly Plan: Node;
  readonly 'Execution Time': number;
}

const nodesOf = (node: Node): readonly Node[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)];

/**
 * Database that explains each statement before it answers it; `rows` are the most that one step of a plan has
 * read of a table.
 */
function watched() {
  const seen = { rows: 0, ms: 0 };
  const reads = {
    async query(text: string, parameters: readonly Parameter[] = []) {
      const [row] = await store.database.query<{ 'QUERY PLAN': readonly Explained[] }>(
        `explain (analyze, buffers, format json) ${text}`,
        parameters,
      );
      const [plan] = row?.['QUERY PLAN'] ?? [];
      seen.ms += plan?.['Execution Time'] ?? 0;
      for (const node of plan ? nodesOf(plan.Plan) : [])
        if (node['Relation Name'] !== undefined) {
          const each = (node['Actual Rows'] ?? 0) + (node['Rows Removed by Filter'] ?? 0);
          seen.rows = Math.max(seen.rows, each * (node['Actual Loops'] ?? 1));
        }
      return store.database.query(text, parameters);
    },
    /** The statements of Drizzle. */
    async read<Result extends object>(run: (orm: Orm) => PromiseLike<Result>): Promise<Result> {
      let built: BuiltQuery | undefined;
      const answer = await store.database.read((orm) => {
        const query = run(orm);
        built = (query as unknown as { toSQL(): BuiltQuery }).toSQL();
        return query;
      });
      if (built) await reads.query(built.sql, built.params);
      return answer;
    },
  };
  return { seen, reads: reads as unknown as typeof store.database };
}

test.each([
  ['all', {}, { count: 10_000, isExact: false }],
  ['those of a state', { status: 'delivered' as const }, { count: 10_000, isExact: false }],
  ['those of a rare state', { status: 'failed' as const }, { count: 0, isExact: true }],
  ['those of a subject', { subject: 'Order 59' }, { count: 1_000, isExact: false }],
])('emails: a count of %s reads so many rows at most', async (name, query, counted) => {
  const { seen, reads } = watched();
  expect(await countEmails(reads, OWNER, query, NOW)).toEqual(counted);
  console.log(`emails, ${name}: ${seen.ms.toFixed(1)} ms`);
  expect(seen.rows).toBeLessThanOrEqual(READ_FOR_COUNT);
});

test.each([
  ['all', {}, { count: 10_000, isExact: false }],
  ['those of a common status', { status: 'subscribed' as const }, { count: 6_667, isExact: false }],
  ['those of a rare status', { status: 'bounced' as const }, { count: 10_000, isExact: false }],
  ['those who begin with a text', { search: '59' }, { count: 1_111, isExact: true }],
  ['one address', { email: '7@many.example' }, { count: 1, isExact: true }],
])('contacts: a count of %s reads so many rows at most', async (name, query, counted) => {
  const { seen, reads } = watched();
  const lister = { reads, findAudience: async () => null };
  const call = { caller: OWNER, query, now: NOW } as unknown as Parameters<typeof countContacts>[1];
  expect(await countContacts(lister, call)).toEqual(counted);
  console.log(`contacts, ${name}: ${seen.ms.toFixed(1)} ms`);
  expect(seen.rows).toBeLessThanOrEqual(READ_FOR_COUNT);
});

test.each(['-createdAt', 'createdAt', 'address', '-address'] as const)(
  'suppressions of a rare reason, in the order of %s: a page reads so many rows at most, and all pages find all',
  async (sort) => {
    const { seen, reads } = watched();
    const found: string[] = [];
    let pages = 0;
    for (let after: string | undefined; ; ) {
      const query = { reason: 'bounced', sort, limit: 50, ...(after !== undefined && { after }) };
      const call = { caller: OWNER, query } as unknown as Parameters<typeof listSuppressions>[1];
      const page = await listSuppressions({ reads, signer: createSigner('only-for-tests') }, call);
      if (page instanceof Failure) throw new Error(page.message);
      pages++;
      found.push(...page.data.map(({ address }) => address ?? ''));
      if (page.pagination.nextCursor === null) break;
      after = page.pagination.nextCursor;
    }
    console.log(`suppressions, ${sort}: ${seen.ms.toFixed(1)} ms in ${pages} pages`);
    const isBackwards = sort === '-address' || sort === 'createdAt';
    const all = [1, 2, 3, ROWS - 2, ROWS - 1, ROWS].map((n) => `${String(n).padStart(8, '0')}@out.example`);
    expect(found).toEqual(isBackwards ? all.toReversed() : all);
    expect(seen.rows).toBeLessThanOrEqual(READ_FOR_COUNT);
  },
);

test.each(['-createdAt', 'createdAt'] as const)(
  'runs of a rare status, in the order of %s: a page reads so many rows at most, and all pages find all',
  async (sort) => {
    const { seen, reads } = watched();
    const found: string[] = [];
    for (let after: string | undefined; ; ) {
      const query = { status: 'waiting', sort, limit: 50, ...(after !== undefined && { after }) };
      const call = { caller: OWNER, params: { id: FLOW }, query } as unknown as Parameters<
        typeof listRuns
      >[1];
      const page = await listRuns({ database: store.database, reads }, call);
      if (page instanceof Failure) throw new Error(page.message);
      found.push(...page.data.map(({ id }) => id));
      if (page.pagination.nextCursor === null) break;
      after = page.pagination.nextCursor;
    }
    console.log(`runs, ${sort}: ${seen.ms.toFixed(1)} ms`);
    const all = [ROWS - 2, ROWS - 1, ROWS].map((n) => `run_01m7${String(n).padStart(20, '0')}`);
    expect(found).toEqual(sort === 'createdAt' ? all : all.toReversed());
    expect(seen.rows).toBeLessThanOrEqual(READ_FOR_COUNT);
  },
);
