import type { Database } from '../../src/platform/db/database.ts';
import { BIRTH } from './stored-email.ts';

/**
 * One row for each of what follows, numbered by `i`; $1 the workspace, $2 and $3 the first and the last
 * number.
 */
const EACH = 'generate_series($2::integer, $3::integer) i';
const KIND = `true, 'x', '{}', 1, 1`;
const ACTOR = 'livemode, state, context, revision, machine_version';

/**
 * Rows that grow with the use of a workspace, of every form that a table has: keyed by the workspace, by an
 * id, by the row that they belong to, without a key, partitioned.
 */
const GROWING: readonly string[] = [
  `insert into contacts (workspace_id, livemode, id, email, email_key, properties, status, created_at, updated_at)
   select $1, true, $1 || '_con_' || i, i || '@' || $1, i || '@' || $1, '{"plan": "free"}', 'subscribed', now(), now() from ${EACH}`,
  `insert into contact_activity (contact_id, id, livemode, type, at)
   select $1 || '_con_' || i, n::text, true, 'event', now() from ${EACH} cross join generate_series(1, 1 + 8 * (i % 10 = 0)::integer) n`,
  `insert into audience_members (audience_id, contact_id, state, since)
   select $1 || '_aud', $1 || '_con_' || i, 'joined', now() from ${EACH}`,
  `insert into campaign_recipients (campaign_id, contact_id, state) select $1 || '_cmp', $1 || '_con_' || i, 'sent' from ${EACH}`,
  `insert into campaign_tallies (campaign_id, sent) select $1 || '_cmp', 1 from ${EACH} where i % 10 = 0`,
  `insert into suppressions (workspace_id, address_key, address, reason, created_at)
   select $1, i || '@' || $1, i || '@' || $1, 'bounced', now() from ${EACH} where i % 10 = 0`,
  `insert into forgotten_leavings (workspace_id, livemode, address_hash, audience_id, left_at)
   select $1, true, i::text, $1 || '_aud', now() from ${EACH} where i % 10 = 0`,
  `insert into emails (id, workspace_id, livemode, state, ${BIRTH.columns})
   select 'em_' || $1 || i, $1, true, 'sending', ${BIRTH.values} from ${EACH} where i % 2 = 0`,
  `insert into email_turns (email_id, revision, workspace_id, livemode, state, context, machine_version, commit_tag, steps, at)
   select 'em_' || $1 || i, n, $1, true, 'sent', '{}', 1, 0, '[]', now() from ${EACH} cross join generate_series(2, 3) n where i % 2 = 0`,
  `insert into email_due (id, workspace_id, livemode, state, wake_at)
   select 'em_' || $1 || i, $1, true, 'scheduled', now() from ${EACH} where i % 20 = 0`,
  `insert into webhook_deliveries (id, workspace_id, ${ACTOR}, webhook_id, event_id, event_type, email_id)
   select 'dlv_' || $1 || i, $1, true, 'success', '{}', 1, 1, $1 || '_wh', 'evt', 'sent', 'em' from ${EACH} where i % 5 = 0`,
  `insert into webhook_delivery_journal (actor_id, revision, commit_tag, steps)
   select 'dlv_' || $1 || i, n, 1, '[]' from ${EACH} cross join generate_series(1, 2) n where i % 5 = 0`,
  `insert into webhook_attempts (delivery_id, attempt, attempted_at, http_status, response_body, duration_ms)
   select 'dlv_' || $1 || i, 1, now(), 200, '', 1 from ${EACH} where i % 5 = 0`,
  `insert into actor_outbox (id, to_kind, to_id, event)
   select 'out_' || $1 || i, 'webhookDelivery', 'dlv_' || $1 || i, '{}' from ${EACH} where i % 100 = 0`,
  `insert into usage_entries (workspace_id, livemode, period, units) select $1, true, '2026-11', 1 from ${EACH} where i % 100 = 0`,
  `insert into idempotency_keys (workspace_id, livemode, key, fingerprint, status, reply, created_at)
   select $1, true, i::text, '', 202, '', now() from ${EACH} where i % 10 = 0`,
  `insert into audit_log (id, workspace_id, actor_type, action, details)
   select 'log_' || $1 || i, $1, 'system', 'x', '{}' from ${EACH} where i % 10 = 0`,
  `insert into api_requests (id, workspace_id, livemode, api_key_id, method, route, path, status, duration_ms)
   select 'req_' || $1 || i, $1, true, $1 || '_key', 'POST', '/v1/emails', '/v1/emails', 202, 1 from ${EACH} where i % 10 = 0`,
  `insert into assets (id, workspace_id, livemode, file, filename, content_type, width, height, size, created_at)
   select 'ast_' || $1 || i, $1, true, i || '.png', 'x.png', 'image/png', 1, 1, 1, now() from ${EACH} where i % 10 = 0`,
  `insert into asset_contents (asset_id, content) select 'ast_' || $1 || i, 'x'::bytea from ${EACH} where i % 10 = 0`,
];

/** The resources of which there is one. */
const ONCE: readonly string[] = [
  `insert into workspaces (id, name, plan, created_at, archived_at) values ($1, 'w', 'unlimited', now(), now())`,
  `insert into audiences (workspace_id, livemode, id, name, type, public, confirm, created_at, updated_at)
   values ($1, true, $1 || '_aud', 'a', 'static', false, false, now(), now())`,
  `insert into campaigns (id, workspace_id, ${ACTOR}, attempt) values ($1 || '_cmp', $1, ${KIND.replace('x', 'sent')}, 1)`,
  `insert into campaign_settings (campaign_id, name, audience_id, settings, updated_at)
   values ($1 || '_cmp', 'c', $1 || '_aud', '{}', now())`,
  `insert into webhook_endpoints (id, workspace_id, ${ACTOR}, events) values ($1 || '_wh', $1, ${KIND.replace('x', 'deleted')}, '{}')`,
  `insert into templates (workspace_id, livemode, id, name, version, latest, revision, created_at, updated_at)
   values ($1, true, $1 || '_tpl', 't', 1, 1, 1, now(), now())`,
  `insert into template_versions (template_id, version, content, created_at) values ($1 || '_tpl', 1, '{}', now())`,
];

/** The most rows that one statement writes. */
const PART = 50_000;

/** Writes an archived workspace with so many contacts, and what comes with them. */
export async function fillWorkspace(
  database: Pick<Database, 'query'>,
  workspaceId: string,
  contacts: number,
) {
  for (const statement of ONCE) await database.query(statement, [workspaceId]);
  for (let from = 1; from <= contacts; from += PART)
    for (const statement of GROWING)
      await database.query(statement, [workspaceId, from, Math.min(from + PART - 1, contacts)], {
        deadlineMs: 60_000,
      });
}

/** The number of rows of each table that name the workspace anywhere; only tables with some. */
export async function tracesOf(
  database: Pick<Database, 'query'>,
  workspaceId: string,
): Promise<Readonly<Record<string, number>>> {
  const tables = await database.query<{ name: string }>(
    `select c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where n.nspname = current_schema() and c.relkind = 'r' order by 1`,
  );
  const traces: Record<string, number> = {};
  for (const { name } of tables) {
    const [row] = await database.query<{ count: number }>(
      `select count(*)::integer as count from ${name} t where t::text like '%' || $1 || '%'`,
      [workspaceId],
      { deadlineMs: 60_000 },
    );
    if (row && row.count > 0) traces[name] = row.count;
  }
  return traces;
}
