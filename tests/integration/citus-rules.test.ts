import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { loadConfig } from '../../src/config/config.ts';
import type { Database } from '../../src/db/database.ts';
import type { Kind } from '../../src/engine/kind.ts';
import { claimLivesStatement, readLivesStatement } from '../../src/engine/life-statements.ts';
import {
  claimDueStatement,
  loadStatement,
  nextWakeStatement,
  readBackStatement,
} from '../../src/engine/read-statements.ts';
import { wakeWriting } from '../../src/engine/wake-at.ts';
import { openService } from '../../src/service.ts';
import { createLogger } from '../../src/telemetry/logger.ts';
import { breachesOf, loadParser, SHARD_KEY } from '../support/citus-rules.ts';
import { createTestDatabase } from '../support/postgres.ts';
import { CLOCKS, formsOf } from '../support/statement-forms.ts';

let kinds: readonly Kind[];
let database: Database;
let distributed: ReadonlySet<string>;
const stack = new AsyncDisposableStack();
beforeAll(async () => {
  await loadParser();
  const made = await createTestDatabase();
  stack.defer(() => made.close());
  const loaded = loadConfig({ HOST: '127.0.0.1', SECRET_KEY: 's'.repeat(32), DATABASE_URL: made.url });
  if ('problems' in loaded) throw new Error(loaded.problems.join('\n'));
  const service = await openService({
    config: loaded.config,
    logger: createLogger({ level: 'silent', pretty: false }),
  });
  stack.defer(() => service.stop());
  kinds = service.engine.kinds;
  database = service.database;
  const rows = await database.query<{ name: string }>(
    `select c.relname as name from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = '${SHARD_KEY}'
     where c.relkind in ('r', 'p') and not c.relispartition and c.relnamespace = 'public'::regnamespace`,
  );
  distributed = new Set(rows.map(({ name }) => name));
});
afterAll(() => stack.disposeAsync());

const readsOf = (kind: Kind): readonly string[] => [
  ...(kind.life ? [readLivesStatement(kind)] : [loadStatement(kind)]),
  readBackStatement(kind),
  nextWakeStatement(kind),
  ...CLOCKS.map((clock) =>
    kind.life ? claimLivesStatement(kind, wakeWriting(clock)) : claimDueStatement(kind, wakeWriting(clock)),
  ),
];

const UNKEYED = `select i.indexrelid::regclass::text as name from pg_index i join pg_class c on c.oid = i.indrelid
  where i.indisunique and not c.relispartition and c.relnamespace = 'public'::regnamespace and c.relname = any($1::text[])
    and not exists (
      select from pg_attribute a where a.attrelid = c.oid and a.attname = '${SHARD_KEY}' and a.attnum = any(i.indkey))
  order by 1`;

/** Unique indexes that a distributed table could not have: those without the workspace. Shorter only with a change of the schema. */
const KEYS_WITHOUT =
  words(`api_keys_hash_key api_keys_pkey audit_log_pkey billing_customer_key browser_sessions_hash_key browser_sessions_pkey campaigns_pkey
  captured_email_id_recipient_key captured_pkey confirmations_pkey contact_imports_pkey domains_pkey email_due_pkey email_turns_pkey
  emails_pkey erasures_pkey flow_runs_by_occurrence flow_runs_open flow_runs_pkey flows_by_id invitations_hash_key
  invitations_pkey members_pkey service_emails_pkey service_warnings_pkey templates_pkey webhook_deliveries_pkey webhook_endpoints_pkey`);

/** Tables that statements of the engine look up by their ids alone, and so on every node. */
const READ_BY_ID =
  words(`api_keys campaigns confirmations contact_imports contacts domains email_due email_turns emails flow_runs
  templates webhook_deliveries webhook_endpoints`);
const CHANGED_BY_ID =
  words(`api_keys campaigns confirmations contact_imports domains email_due flow_runs webhook_deliveries
  webhook_endpoints`);

/** Tables without the workspace that they write: as reference tables each write would go to every node. */
const WRITTEN_EVERYWHERE =
  words(`actor_outbox api_key_journal audience_members campaign_clicks campaign_contents campaign_journal
  campaign_recipients campaign_settings campaign_tallies contact_activity contact_import_chunks contact_import_counts
  contact_import_faults contact_import_journal contact_import_seen domain_journal domain_keys domain_transports flow_entrants
  flow_run_journal flow_run_log flow_tallies webhook_attempts webhook_delivery_journal webhook_endpoint_journal webhook_secrets`);

function words(text: string): readonly string[] {
  return text.trim().split(/\s+/);
}

describe('what stands between this schema and Citus, no more and no less', () => {
  test('unique keys without the workspace', async () => {
    const keys = await database.query<{ name: string }>(UNKEYED, [[...distributed]]);
    expect(keys.map(({ name }) => name)).toEqual([...KEYS_WITHOUT]);
  });

  test('statements of the engine that do not stay on one node', () => {
    const found = kinds.flatMap((kind) =>
      [...formsOf(kind, 'ends'), ...readsOf(kind)].flatMap((sql) => breachesOf(sql, distributed)),
    );
    const expected = [
      ...READ_BY_ID.map((name) => `reads ${name} by another column than workspace_id`),
      ...CHANGED_BY_ID.map((name) => `changes ${name} by another column than workspace_id`),
      ...WRITTEN_EVERYWHERE.map((name) => `writes ${name}, which has no workspace_id`),
      'changes distributed tables in WITH',
      'resolves conflicts in email_due without workspace_id',
    ];
    expect([...new Set(found)].sort()).toEqual(expected.sort());
  });
});

describe('a statement', () => {
  const SHARDED = new Set(['a', 'b']);
  test.each([
    ['select * from a where workspace_id = $1', []],
    [
      'select * from a join b on b.workspace_id = a.workspace_id and b.id = a.id where a.workspace_id = $1',
      [],
    ],
    ['select * from a join b using (workspace_id, id) where a.workspace_id = $1 and b.workspace_id = $1', []],
    [
      'select * from a where id in (select id from b where workspace_id = $1)',
      ['reads a by another column than workspace_id'],
    ],
    ['select * from a where workspace_id = $1 or id = $2', ['reads a by another column than workspace_id']],
    ['select 1 union select 1 from b', ['reads b by another column than workspace_id']],
    ['with c as (select * from b where workspace_id = $1) select * from c', []],
    ['update a set state = $2 where workspace_id = $1 and id = $3', []],
    ['update a set state = $2 where id = $3', ['changes a by another column than workspace_id']],
    ['update a set workspace_id = $2 where workspace_id = $1', ['moves a row to another workspace_id']],
    ['delete from a using b where a.id = b.id and a.workspace_id = $1 and b.workspace_id = $1', []],
    ['insert into a (id, workspace_id) values (1, 2) on conflict (workspace_id, id) do nothing', []],
    ['insert into a (id) values (1)', ['inserts into a without workspace_id']],
    [
      'insert into a (id, workspace_id) values (1, 2) on conflict (id) do nothing',
      ['resolves conflicts in a without workspace_id'],
    ],
    ['insert into plain (id) values (1)', ['writes plain, which has no workspace_id']],
    [
      'with c as (insert into a (workspace_id) values (1) returning id) insert into b (workspace_id) select id from c',
      ['changes distributed tables in WITH'],
    ],
  ])('%s', (sql, breaches) => {
    expect(breachesOf(sql, SHARDED)).toEqual(breaches);
  });
});
