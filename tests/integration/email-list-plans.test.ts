import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Parameter, QueryOptions } from '../../src/db/database.ts';
import { readPage } from '../../src/modules/emails/read/page.ts';
import type { EmailQuery } from '../../src/modules/emails/read/query-model.ts';
import { postgresStore, type Store } from '../support/engine.ts';

// A plan of a list is made once for all workspaces. It must read none but the emails of its own workspace, however few those are:
// in the order of ids, somebody without emails would be searched for among everybody's.

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
  readonly Plans?: readonly Node[];
}

const nodesOf = (node: Node): readonly Node[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)];

/** How the emails are come by in the plans that the statements of one request have for all workspaces. */
async function waysToEmails(query: Partial<EmailQuery>): Promise<readonly string[]> {
  const { database } = store;
  const ways: string[] = [];
  const watched = {
    async query(text: string, parameters: readonly Parameter[] = [], options: QueryOptions = {}) {
      // A search is planned for its values.
      if (options.isSearch) return database.query(text, parameters, options);
      const [row] = await database.query<{ 'QUERY PLAN': readonly { readonly Plan: Node }[] }>(
        `explain (generic_plan, format json) ${text}`,
      );
      for (const node of nodesOf(row?.['QUERY PLAN'][0]?.Plan as Node))
        if (node['Relation Name']?.startsWith('emails_')) ways.push(node['Index Name'] ?? node['Node Type']);
      return database.query(text, parameters);
    },
  } as unknown as typeof database;
  const caller = { workspaceId: 'ws_none', livemode: true } as Parameters<typeof readPage>[1];
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
