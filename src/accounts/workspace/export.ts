import type { Database, Parameter } from '../../platform/db/database.ts';
import { type OwnedTable, surveyTables } from './owned-tables.ts';

/**
 * Rows per statement, and octets of them as they are stored; a larger row comes alone. A message may have 25
 * MiB, an image 5. PostgreSQL compresses JSON: fifty versions of the largest templates are 200 MB.
 */
const BATCH = 50;
const BATCH_OCTETS = 8_388_608;

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

/**
 * Reads every row of a workspace, table by table, a JSON text each: `{"table": …, "row": …}`. Secrets are
 * left out. @throws UnavailableError
 */
export async function* exportWorkspace(
  database: Database,
  journals: ReadonlyMap<string, string>,
  workspaceId: string,
): AsyncGenerator<string> {
  yield* rowsOf(
    database,
    { table: 'workspaces', condition: 'id = $1', key: [{ name: 'id', type: 'text' }], wide: [] },
    workspaceId,
  );
  const { owned } = await surveyTables(database, journals);
  for (const table of owned) if (!LEFT_OUT.has(table.table)) yield* rowsOf(database, table, workspaceId);
}

async function* rowsOf(
  database: Database,
  { table, condition, key, wide }: Pick<OwnedTable, 'table' | 'condition' | 'key' | 'wide'>,
  workspaceId: string,
): AsyncGenerator<string> {
  const names = key.map(({ name }) => name).join(', ');
  // Values that are stored outside of a row are sized without being read.
  const octets = ['0', ...wide.map((name) => `coalesce(pg_column_size(t.${name}), 0)`)].join(' + ');
  let last: readonly Parameter[] | null = null;
  do {
    const values = key.map(({ type }, index) => `$${index + 2}::text::${type}`).join(', ');
    const rest = `${condition} ${last === null ? '' : `and (${names}) > (${values})`}`;
    const rows: { row: Record<string, unknown> }[] = await database.query(
      key.length === 0
        ? `select row_to_json(t) as row from ${table} t where ${condition}`
        : `select row_to_json(t) as row from ${table} t join (
             select ${names}, place, sum(stored_octets) over (order by place) as upto from (
               select ${names}, ${octets} as stored_octets, row_number() over (order by ${names}) as place
               from ${table} t where ${rest} order by ${names} limit ${BATCH}
             ) next
           ) sized using (${names}) where sized.place = 1 or sized.upto <= ${BATCH_OCTETS} order by sized.place`,
      [workspaceId, ...(last ?? [])],
    );
    for (const { row } of rows) {
      for (const secret of SECRET) delete row[secret];
      yield `${JSON.stringify({ table, row })}\n`;
    }
    const end = rows.at(-1)?.row;
    last = end && key.length > 0 ? key.map(({ name }) => String(end[name])) : null;
  } while (last !== null);
}
