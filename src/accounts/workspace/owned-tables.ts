import type { Database } from '../../platform/db/database.ts';

// Every module has its own tables, so the tables of a workspace are read from the catalogue of the database:
// a table with a workspace_id, or one whose rows belong to such a row.

/** The tables that a column of this name references, in tables that name no workspace themselves. */
const OWNERS: Readonly<Record<string, string>> = {
  email_id: 'emails',
  delivery_id: 'webhook_deliveries',
  webhook_id: 'webhook_endpoints',
  received_id: 'received',
  mailbox_id: 'mailboxes',
  domain_id: 'domains',
  template_id: 'templates',
  asset_id: 'assets',
  contact_id: 'contacts',
  audience_id: 'audiences',
  import_id: 'contact_imports',
  campaign_id: 'campaigns',
  flow_id: 'flows',
  run_id: 'flow_runs',
};

/** Tables of the installation as a whole, or of people, who may belong to several workspaces. */
export const SHARED_TABLES: ReadonlySet<string> = new Set([
  'workspaces',
  'posthorn_migrations',
  'event_log',
  'instances',
  'service_instances',
  'learned_limits',
  'acme_certificates',
  'secret_key_canary',
  'body_collections',
  'body_store_owner',
  'former_secret_keys',
  'one_time_tokens',
  'actor_outbox',
  'last_run',
  'retention',
  'stripe_events',
  'ses_removals',
  'flow_feed',
  'service_email_readers',
  'accounts',
  'passkeys',
  'recovery_codes',
]);

/** A table, and the condition of its rows that belong to the workspace `$1`. */
export interface OwnedTable {
  readonly table: string;
  readonly condition: string;
  /** The columns of its primary key with their types; none where it has no key. */
  readonly key: readonly { readonly name: string; readonly type: string }[];
  /** The columns whose values differ in size. */
  readonly wide: readonly string[];
  /** The table that its rows belong to, and the referencing column; null where rows name the workspace. */
  readonly owner: { readonly table: string; readonly column: string } | null;
  /** True when an index of all its rows begins with the owner column. */
  readonly isIndexed: boolean;
}

/** The tables that belong to workspaces, and those without a declared owner. */
export interface TableSurvey {
  readonly owned: readonly OwnedTable[];
  readonly unplaced: readonly string[];
}

const COLUMNS = `select c.relname as table, a.attname as name, format_type(a.atttypid, a.atttypmod) as type,
  coalesce(a.attnum = any (i.indkey::smallint[]), false) as is_key, a.attlen = -1 as is_wide,
  exists (select from pg_index x where x.indrelid = c.oid and x.indpred is null and x.indkey[0] = a.attnum) as leads
from pg_class c join pg_namespace n on n.oid = c.relnamespace
join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
left join pg_index i on i.indrelid = c.oid and i.indisprimary
where n.nspname = current_schema() and c.relkind in ('r', 'p') and not c.relispartition
order by c.relname, array_position(i.indkey::smallint[], a.attnum), a.attnum`;

interface ColumnRow {
  readonly table: string;
  readonly name: string;
  readonly type: string;
  readonly is_key: boolean;
  /** True for a type whose values differ in size: texts, JSON, octets. */
  readonly is_wide: boolean;
  /** True for the first column of an index of all rows. */
  readonly leads: boolean;
}

/**
 * Reads the tables of workspaces. `journals` names the table of the actors of each journal. @throws
 * UnavailableError
 */
export async function surveyTables(
  database: Database,
  journals: ReadonlyMap<string, string>,
): Promise<TableSurvey> {
  const rows = await database.query<ColumnRow>(COLUMNS);
  const tables = Map.groupBy(rows, ({ table }) => table);
  const owned: OwnedTable[] = [];
  const unplaced: string[] = [];
  for (const [table, columns] of tables) {
    if (SHARED_TABLES.has(table)) continue;
    const key = columns.filter(({ is_key }) => is_key).map(({ name, type }) => ({ name, type }));
    const owner = ownerOf(table, columns, tables, journals);
    if (owner === undefined) unplaced.push(table);
    else {
      const wide = columns.filter(({ is_wide }) => is_wide).map(({ name }) => name);
      owned.push({ table, key, wide, owner, ...placeOf(columns, owner) });
    }
  }
  return { owned, unplaced };
}

/** Null for a table that names the workspace itself, undefined for one without a declared owner. */
function ownerOf(
  table: string,
  columns: readonly ColumnRow[],
  tables: ReadonlyMap<string, unknown>,
  journals: ReadonlyMap<string, string>,
): OwnedTable['owner'] | undefined {
  if (columns.some(({ name }) => name === 'workspace_id')) return null;
  const actors = journals.get(table);
  if (actors !== undefined) return { table: actors, column: 'actor_id' };
  for (const { name } of columns) {
    const owner = OWNERS[name];
    if (owner !== undefined && tables.has(owner)) return { table: owner, column: name };
  }
  return;
}

function placeOf(columns: readonly ColumnRow[], owner: OwnedTable['owner']) {
  const column = owner?.column ?? 'workspace_id';
  const isIndexed = columns.some(({ name, leads }) => name === column && leads);
  const condition = owner
    ? `${column} in (select o.id from ${owner.table} o where o.workspace_id = $1)`
    : 'workspace_id = $1';
  return { condition, isIndexed };
}
