import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { Kind } from '../../src/engine/machine/kind.ts';
import { wakeWriting } from '../../src/engine/store/statements/wake-at.ts';
import { storeOf } from '../../src/engine/store/store-of.ts';
import { loadConfig } from '../../src/platform/config/config.ts';
import { DISTRIBUTED, DISTRIBUTED_VIEWS } from '../../src/platform/db/distribution/catalogue.ts';
import { createLogger } from '../../src/platform/telemetry/logger.ts';
import { WAITING_IN_BULK } from '../../src/sending/emails/bulk/bulk-room.ts';
import { openService } from '../../src/service.ts';
import { breachesOf, loadParser } from '../support/citus-rules.ts';
import { createTestDatabase } from '../support/postgres.ts';
import { CLOCKS, formsOf } from '../support/statement-forms.ts';

let kinds: readonly Kind[];
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
});
afterAll(() => stack.disposeAsync());

const distributed = new Set([...DISTRIBUTED.map(({ table }) => table), ...DISTRIBUTED_VIEWS]);

/** The statements by which distributed actors are read and claimed, once their workspaces are known. */
const readsOf = (kind: Kind): readonly string[] =>
  distributed.has(kind.table)
    ? [
        storeOf(kind).load(true),
        storeOf(kind).readBack(true),
        ...CLOCKS.map((clock) => storeOf(kind).claimOnNodes(wakeWriting(clock))),
      ]
    : [];

/**
 * The statements that ask every node: for what is due there, and for the workspace of an actor whose id alone
 * is known.
 */
const looksOf = (kind: Kind): readonly string[] =>
  distributed.has(kind.table)
    ? [storeOf(kind).whose(), storeOf(kind).dueOnNodes(), storeOf(kind).nextDue()]
    : [];

/**
 * Tables on the coordinator that commits write, or may write, beside distributed ones: people, campaigns and
 * flows lie there, and so does what is configured. A commit that really writes there and on a node ends on
 * two machines.
 */
const ON_COORDINATOR =
  words(`actor_outbox api_key_journal api_keys audience_members campaign_clicks campaign_contents campaign_journal campaign_recipients
  campaign_settings campaign_tallies campaigns confirmations contact_activity contact_import_chunks contact_import_counts
  contact_import_faults contact_import_journal contact_import_seen contact_imports contacts domain_journal domain_keys
  domain_transports domains email_bodies flow_entrants flow_run_journal flow_run_log flow_runs flow_tallies mailbox_messages mailboxes message_ids received received_answers received_attempts
  received_journal report_requests sent_message_ids suppressions
  webhook_endpoint_journal webhook_endpoints webhook_secrets`);

function words(text: string): readonly string[] {
  return text.trim().split(/\s+/);
}

describe('on a distributed database', () => {
  test('statements of the engine stay on the node of their batch', () => {
    const found = kinds.flatMap((kind) =>
      [...formsOf(kind, 'ends', true), ...readsOf(kind)].flatMap((sql) => breachesOf(sql, distributed)),
    );
    expect([...new Set(found)].sort()).toEqual(
      ON_COORDINATOR.map((table) => `writes ${table} on the coordinator`),
    );
  });

  test('only statements without a known workspace ask every node', () => {
    const found = kinds.flatMap(looksOf).flatMap((sql) => breachesOf(sql, distributed));
    expect([...new Set(found)].sort()).toEqual(
      ['email_due', 'emails', 'webhook_deliveries'].map((table) => `reads ${table} on every node`),
    );
  });
});

test('the count of what campaigns have left breaks no rule, but that it asks every node', () => {
  expect(breachesOf(WAITING_IN_BULK, distributed)).toEqual(['reads email_due on every node']);
});

describe('a statement', () => {
  const SHARDED = new Set(['a', 'b']);
  test.each([
    ['select * from a where workspace_id = $1', []],
    [
      'select * from a join b on b.workspace_id = a.workspace_id and b.id = a.id where a.workspace_id = $1',
      [],
    ],
    [
      'select * from a join b on b.id = a.id where a.workspace_id = any($1::text[])',
      ['reads b on every node'],
    ],
    ['select * from a join c on c.id = a.id where a.workspace_id = $1', ['joins c with a distributed table']],
    [
      'with c as (select $1 as workspace_id) select * from a join c on c.workspace_id = a.workspace_id',
      ['reads a on every node'],
    ],
    ['select * from a where workspace_id = $1 for update', []],
    [
      'with c as (select $2 as id) select * from c join a on a.id = c.id and a.workspace_id = $1 for update of a',
      ['locks a beside a join'],
    ],
    ['select * from plain for update', []],
    [
      'with l as (select x.id from plain x join other y on y.id = x.id for update of x) select * from a where workspace_id = $1',
      ['hands on from l what it locks beside a join'],
    ],
    [
      'with l as (select * from (select x.id from plain x join other y on y.id = x.id for update of x) k) select * from a where workspace_id = $1',
      [],
    ],
    ['with l as (select from plain) select * from a where workspace_id = $1', ['hands on no column from l']],
    [
      'with l as (select from plain union all select) select * from a where workspace_id = $1',
      ['hands on no column from l'],
    ],
    [
      'select exists (select from a where id = $1) as yes',
      ['hands on no column from a look at a', 'reads a on every node'],
    ],
    [
      'select * from a where workspace_id = $1 and exists (select from b where workspace_id = $1 and b.id = a.id)',
      [],
    ],
    ['select * from a where id in (select id from b where workspace_id = $1)', ['reads a on every node']],
    ['select * from a where workspace_id = $1 or id = $2', ['reads a on every node']],
    ['select 1 union select 1 from b', ['reads b on every node']],
    ['with c as (select * from b where workspace_id = $1) select * from c', []],
    ['update a set state = $2 where workspace_id = $1 and id = $3', []],
    ['update a set state = $2 where id = $3', ['changes a on every node']],
    ['update a set workspace_id = $2 where workspace_id = $1', ['moves a row to another workspace_id']],
    ['delete from a using b where a.id = b.id and a.workspace_id = $1 and b.workspace_id = $1', []],
    ['insert into a (id, workspace_id) values (1, 2) on conflict (workspace_id, id) do nothing', []],
    ['insert into a (id) values (1)', ['inserts into a without workspace_id']],
    [
      'insert into a (id, workspace_id) values (1, 2) on conflict (id) do nothing',
      ['resolves conflicts in a without workspace_id'],
    ],
    ['insert into plain (id) values (1)', []],
    [
      'with c as (insert into a (workspace_id) values (1)) insert into plain (id) values (1)',
      ['writes plain on the coordinator'],
    ],
    [
      'with c as (insert into a (workspace_id) values (1) returning id) insert into b (workspace_id) select id from c',
      [],
    ],
  ])('%s', (sql, breaches) => {
    expect(breachesOf(sql, SHARDED)).toEqual(breaches);
  });
});
