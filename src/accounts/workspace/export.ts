import type { Database, Parameter } from '../../platform/db/database.ts';
import { type OwnedTable, surveyTables } from './owned-tables.ts';

/** Rows per statement. */
const BATCH = 500;

/** Tables of secrets, and tables that only this installation can use. */
const LEFT_OUT = new Set([
  'domain_keys',
  'webhook_secrets',
  'idempotency_keys',
  'browser_sessions',
  'invitations',
  'service_emails',
  'service_warnings',
  'early_visits',
  'analytics_cursors',
  'analytics_hours',
]);
/** Columns with secrets, which the export leaves out. */
const SECRET = ['hash', 'sealed'];

/** Reads every row of a workspace, table by table, a JSON text each: `{"table": …, "row": …}`. Secrets are left out. @throws UnavailableError */
export async function* exportWorkspace(
  database: Database,
  journals: ReadonlyMap<string, string>,
  workspaceId: string,
): AsyncGenerator<string> {
  yield* rowsOf(
    database,
    { table: 'workspaces', condition: 'id = $1', key: [{ name: 'id', type: 'text' }] },
    workspaceId,
  );
  const { owned } = await surveyTables(database, journals);
  for (const table of owned) if (!LEFT_OUT.has(table.table)) yield* rowsOf(database, table, workspaceId);
}

async function* rowsOf(
  database: Database,
  { table, condition, key }: Pick<OwnedTable, 'table' | 'condition' | 'key'>,
  workspaceId: string,
): AsyncGenerator<string> {
  const names = key.map(({ name }) => name).join(', ');
  let last: readonly Parameter[] | null = null;
  do {
    const values = key.map(({ type }, index) => `$${index + 2}::text::${type}`).join(', ');
    const rows: { row: Record<string, unknown> }[] = await database.query(
      `select row_to_json(t) as row from ${table} t where ${condition}
       ${last === null ? '' : `and (${names}) > (${values})`}
       ${key.length === 0 ? '' : `order by ${names} limit ${BATCH}`}`,
      [workspaceId, ...(last ?? [])],
    );
    for (const { row } of rows) {
      for (const secret of SECRET) delete row[secret];
      yield `${JSON.stringify({ table, row })}\n`;
    }
    const end = rows.at(-1)?.row;
    last = end && key.length > 0 && rows.length === BATCH ? key.map(({ name }) => String(end[name])) : null;
  } while (last !== null);
}
