import { expect, test } from 'bun:test';
import { followsEmails } from '../../src/audience/contacts/activity/follow-emails.ts';
import { knownContacts } from '../../src/audience/contacts/queries.ts';
import { WRITE_CONTACTS } from '../../src/audience/contacts/write.ts';
import { createSigner } from '../../src/platform/crypto/signer.ts';
import type { Database, Parameter, QueryOptions } from '../../src/platform/db/database.ts';
import { LiveReader } from '../../src/sending/emails/send/reader.ts';
import { contactsLeaveSql } from '../../src/sending/suppressions/queries.ts';
import { postgresStore, rowsOf } from '../support/engine.ts';

// These statements are planned once, and an import begins while nothing is known of the table. An address
// must be looked for by its own index then: among all contacts of the workspace a file of a million rows
// stood still for half a minute.

const SOURCE = `(select * from json_to_recordset($1::text::json) as s(id text, workspace_id text, livemode boolean, actor text, type text,
  recipient integer, recipient_keys text[], reason text, at timestamptz, occurred_at timestamptz, campaign_id text, data json))`;

interface Node {
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly 'Index Cond'?: string;
  readonly Plans?: readonly Node[];
}

const nodesOf = (node: Node): readonly Node[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)];

/**
 * The way by which a statement reads contacts: each scan by its index, with the columns that it is asked by.
 */
async function waysOf(database: Database, statement: string): Promise<readonly string[]> {
  const [row] = await rowsOf<{ 'QUERY PLAN': readonly { readonly Plan: Node }[] }>(
    database,
    `explain (generic_plan, format json) ${statement}`,
  );
  return nodesOf(row?.['QUERY PLAN'][0]?.Plan as Node)
    .filter((node) => node['Relation Name'] === 'contacts' && node['Index Cond'] !== undefined)
    .map((node) => `${node['Index Name']}: ${node['Index Cond']}`);
}

/** The statement that is run with a database, as its text. */
async function textOf(use: (database: Database) => Promise<unknown>): Promise<string> {
  let text = '';
  const query = async (asked: string, _parameters?: readonly Parameter[], _options?: QueryOptions) => {
    text = asked;
    return [];
  };
  await use({ query } as unknown as Database);
  return text;
}

test('an address is looked for by its own index, however small the table was when the plan was made', async () => {
  await using store = await postgresStore();
  const { database } = store;
  await database.script('alter table contacts set (autovacuum_enabled = off)');
  const known = await textOf((seen) => knownContacts(seen, { workspaceId: 'ws', livemode: true }, []));
  const queried = followsEmails
    .filter(({ isMaterialized }) => isMaterialized)
    .map(({ name, sql }) => `with ${name} as materialized (${sql(SOURCE, () => true)}) `)
    .join('');
  const withheld = await textOf((seen) =>
    new LiveReader(seen, createSigner('only-for-tests'), null).withholdings('ws', ['e1']),
  );
  const statements = {
    WRITE_CONTACTS,
    known,
    withheld,
    leave: contactsLeaveSql(SOURCE.replace('reason text', 'reason text, email_key text')),
    ...Object.fromEntries(
      followsEmails
        .filter(({ isMaterialized }) => !isMaterialized)
        .map(({ name, sql }) => [name, `${queried}${sql(SOURCE, () => true)}`]),
    ),
  };
  for (const rows of [0, 500, 3_000]) {
    await rowsOf(
      database,
      `insert into contacts (workspace_id, livemode, id, email, email_key, properties, status, created_at, updated_at)
      select 'ws', true, 'con_' || n, 'e' || n, 'e' || n, '{}', 'subscribed', now(), now() from generate_series(1, ${rows}) n
      on conflict do nothing`,
    );
    for (const [name, statement] of Object.entries(statements)) {
      const ways = await waysOf(database, statement);
      expect([rows, name, ways.length > 0]).toEqual([rows, name, true]);
      const vague = ways.filter((way) => !/email_key|\bid = /.test(way));
      expect([rows, name, vague]).toEqual([rows, name, []]);
      expect([rows, name, ways.some((way) => /^contacts_by_email: .*email_key/.test(way))]).toEqual([
        rows,
        name,
        true,
      ]);
    }
  }
});
