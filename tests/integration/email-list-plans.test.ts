import { afterAll, beforeAll, expect, test } from 'bun:test';
import postgres from 'postgres';
import type { Parameter, QueryOptions } from '../../src/platform/db/database.ts';
import { readPage } from '../../src/sending/emails/read/page.ts';
import type { EmailQuery } from '../../src/sending/emails/read/query-model.ts';
import { postgresStore, type Store } from '../support/engine.ts';

// A plan of a list is made once for all workspaces. It must read none but the emails of its own workspace,
// however few those are: in the order of ids, a workspace without emails would be searched for among all
// emails.

const NOW = Date.parse('2026-11-20T12:00:00.000Z');
const OTHERS = 20_000;

let store: Store;
beforeAll(async () => {
  store = await postgresStore();
  await store.database.query(
    `insert into emails (id, workspace_id, livemode, state, context, machine_version, commit_tag, steps, at, recipients,
       recipient_keys, sender_key, subject, tags, envelope, content)
     select 'em_01m7' || lpad(n::text, 20, '0'), 'ws_' || n % 2, true, 'delivered', '{}', 1, 1, '[]', now(), '{}', '{}', '', '', '{}', '{}', ''
     from generate_series(1, $1::integer) n`,
    [OTHERS],
  );
  await store.database.script('analyze emails');
});
afterAll(() => store[Symbol.asyncDispose]());

interface Node {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly 'Shared Hit Blocks'?: number;
  readonly Plans?: readonly Node[];
}

const nodesOf = (node: Node): readonly Node[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)];

/** The access to emails in the plans that the statements of one request have for all workspaces. */
async function waysToEmails(query: Partial<EmailQuery>, relation = 'emails_'): Promise<readonly string[]> {
  const { database } = store;
  const ways: string[] = [];
  const watched = {
    async query(text: string, parameters: readonly Parameter[] = [], options: QueryOptions = {}) {
      // A search by a separate condition is planned for its values.
      if (options.isSearch) return database.query(text, parameters, options);
      const [row] = await database.query<{ 'QUERY PLAN': readonly { readonly Plan: Node }[] }>(
        `explain (generic_plan, format json) ${text}`,
      );
      for (const node of nodesOf(row?.['QUERY PLAN'][0]?.Plan as Node))
        if (node['Relation Name']?.startsWith(relation)) ways.push(node['Index Name'] ?? node['Node Type']);
      return database.query(text, parameters);
    },
  } as unknown as typeof database;
  const caller = { workspaceId: 'ws_none', livemode: true, isOnNodes: false };
  const found = await readPage(watched, caller, { limit: 50, ...query }, { after: null, now: NOW });
  if (!('rows' in found)) throw new Error(found.message);
  return ways;
}

test.each([
  ['the newest', {}],
  ['those of a common state', { status: 'delivered' as const }],
  ['those of a subject', { subject: 'nothing' }],
])('a list of %s goes by the workspace', async (_, query) => {
  const ways = await waysToEmails(query);
  expect(ways).not.toBeEmpty();
  expect(ways.filter((way) => !way.includes('workspace_id_livemode_id'))).toEqual([]);
});

/** The number of pages of the email tables that a request reads by those plans. */
async function pagesRead(after: string, isOnNodes: boolean): Promise<number> {
  const { database, url } = store;
  await using stack = new AsyncDisposableStack();
  const connection = { plan_cache_mode: 'force_generic_plan' };
  const sql = postgres(url as string, { max: 1, connection });
  stack.defer(() => sql.end());
  let pages = 0;
  const watched = {
    async query(text: string, parameters: readonly Parameter[] = []) {
      await sql.unsafe(`prepare listing as ${text}`);
      const given = parameters.map((value) => `'${value}'`).join(', ');
      const [row] = await sql.unsafe(`explain (analyze, buffers, format json) execute listing(${given})`);
      await sql.unsafe('deallocate listing');
      for (const node of nodesOf(row?.['QUERY PLAN'][0]?.Plan as Node))
        if (node['Relation Name']?.startsWith('emails_')) pages += node['Shared Hit Blocks'] ?? 0;
      return database.query(text, parameters);
    },
  } as unknown as typeof database;
  const caller = { workspaceId: 'ws_1', livemode: true, isOnNodes };
  const found = await readPage(watched, caller, { limit: 50 }, { after, now: NOW });
  if (!('rows' in found)) throw new Error(found.message);
  expect(found.rows).toHaveLength(51);
  return pages;
}

test.each([false, true])(
  'a page in the midst of a day is reached at once, on several nodes: %p',
  async (isOnNodes) => {
    const near = await pagesRead(`em_01m7${String(OTHERS).padStart(20, '0')}`, isOnNodes);
    const deep = await pagesRead(`em_01m7${'200'.padStart(20, '0')}`, isOnNodes);
    expect(deep).toBeLessThan(near + 20);
  },
);

test('those that are about to leave are found by when they wake, however many wait for longer', async () => {
  const { database } = store;
  await database.query(
    `insert into email_due (id, workspace_id, livemode, state, wake_at)
     select 'em_01m7' || lpad(n::text, 20, '0'), 'ws_' || n % 2, true, 'scheduled', now() + interval '9 days'
     from generate_series(1, $1::integer) n`,
    [OTHERS],
  );
  await database.script('analyze email_due');
  const ways = await waysToEmails({ status: 'sending' }, 'email_due');
  expect(ways).not.toBeEmpty();
  expect([...new Set(ways)]).toEqual(['email_due_by_wake_at', 'email_due_queued']);
});
