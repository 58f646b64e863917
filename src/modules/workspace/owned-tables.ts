import type { Database } from '../../db/database.ts';

// Every module keeps its own tables, so what belongs to a workspace is read from the catalogue of the database: a table with a
// workspace_id, or one whose rows belong to such a row.

/** The tables that a column of this name points to, in tables that name no workspace themselves. */
const OWNERS: Readonly<Record<string, string>> = {
  email_id: 'emails',
  delivery_id: 'webhook_deliveries',
  webhook_id: 'webhook_endpoints',
  domain_id: 'domains',
  template_id: 'templates',
  contact_id: 'contacts',
  audience_id: 'audiences',
  import_id: 'contact_imports',
  campaign_id: 'campaigns',
  flow_id: 'flows',
  run_id: 'flow_runs',
};

/** Tables of the installation as a whole, or of people, who may belong to several workspaces. */
export const SHARED_TABLES: ReadonlySet<string> = new Set([
  ...[
    'workspaces',
    'posthorn_migrations',
    'event_log',
    'instances',
    'secret_key_canary',
    'one_time_tokens',
    'actor_outbox',
    'last_run',
    'stripe_events',
    'ses_removals',
    'flow_feed',
    'service_email_readers',
  ],
  ...['accounts', 'passkeys', 'recovery_codes'],
]);

/** A table, and the condition of its rows that belong to the workspace `$1`. */
export interface OwnedTable {
  readonly table: string;
  readonly condition: string;
  /** The columns of its primary key with their types; none where it has no key. */
  readonly key: readonly { readonly name: string; readonly type: string }[];
}

/** The tables that belong to workspaces, and those that nobody has placed yet. */
export interface TableSurvey {
  readonly owned: readonly OwnedTable[];
  readonly unplaced: readonly string[];
}

const COLUMNS = `select c.relname as table, a.attname as name, format_type(a.atttypid, a.atttypmod) as type,
  coalesce(a.attnum = any (i.indkey::smallint[]), false) as is_key
from pg_class c join pg_namespace n on n.oid = c.relnamespace
join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
left join pg_index i on i.indrelid = c.oid and i.indisprimary
where n.nspname = current_schema() and c.relkind in ('r', 'p') and not c.relispartition
order by c.relname, a.attnum`;

interface ColumnRow {
  readonly table: string;
  readonly name: string;
  readonly type: string;
  readonly is_key: boolean;
}

/** Reads which tables belong to workspaces. `journals` names the table of the actors of each journal. @throws Unavailable */
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
    const condition = conditionOf(table, columns, tables, journals);
    const key = columns.filter(({ is_key }) => is_key).map(({ name, type }) => ({ name, type }));
    if (condition === null) unplaced.push(table);
    else owned.push({ table, condition, key });
  }
  return { owned, unplaced };
}

function conditionOf(
  table: string,
  columns: readonly ColumnRow[],
  tables: ReadonlyMap<string, unknown>,
  journals: ReadonlyMap<string, string>,
): string | null {
  const names = columns.map(({ name }) => name);
  if (names.includes('workspace_id')) return 'workspace_id = $1';
  const of = (column: string, owner: string) =>
    `${column} in (select o.id from ${owner} o where o.workspace_id = $1)`;
  const actors = journals.get(table);
  if (actors !== undefined) return of('actor_id', actors);
  const column = names.find((name) => tables.has(OWNERS[name] ?? ''));
  return column === undefined ? null : of(column, OWNERS[column] ?? '');
}
