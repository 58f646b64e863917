import { VERSION } from '../../platform/config/version.ts';
import type { BulkSession } from '../../platform/db/bulk-session.ts';
import { partitionedDays } from '../../platform/db/partitions.ts';
import type { BodyReader } from './bodies.ts';
import { rangesOf, readTables, type SchemaTable } from './catalogue.ts';
import { countRows, type Header, inPieces, type Part } from './parts.ts';
import { BackupRefused } from './refused.ts';

/** The octets of a frame's rows before compression; a longer row is a whole frame. */
const FRAME_BYTES = 1_048_576;

/**
 * Reads everything in a database, as it is at one moment, in bounded memory. Ends the session's transaction.
 * `bodies` reads what lies outside; without it that stays where it is.
 * @throws BackupRefused where there is no Posthorn in it, UnavailableError
 */
export async function* dump(
  session: BulkSession,
  secretKey: string | null,
  bodies: BodyReader | null = null,
): AsyncGenerator<Part> {
  const tables = await lockedTables(session);
  if (!tables.some(({ name }) => name === 'posthorn_migrations'))
    throw new BackupRefused('There is no Posthorn in this database, so there is nothing to back up.');
  const header: Header = {
    posthorn: VERSION,
    migrations: await session.query('select name, hash from posthorn_migrations order by name'),
    source: session.kind,
    takenAt: await momentOf(session),
    secretKey,
    days: await partitionedDays(session),
    tables: tables.length,
    estimatedRows: tables.reduce((sum, table) => sum + table.estimatedRows, 0),
  };
  yield { kind: 'header', header };
  const rows: Record<string, number> = {};
  for (const table of tables) {
    const { name, columns } = table;
    yield { kind: 'table', table: { name, columns } };
    rows[name] = 0;
    for (const leaf of table.leaves)
      for await (const range of rangesOf(session, leaf)) {
        const read = await session.copyOut(`select ${columns} from ${leaf.name} where ${range}`);
        rows[name] += countRows(read);
        for (const piece of inPieces(read, FRAME_BYTES)) yield { kind: 'rows', rows: piece };
      }
  }
  let count = 0;
  if (bodies)
    for await (const { key, octets } of bodies.all(session)) {
      yield { kind: 'body', key, octets };
      count++;
    }
  await session.commit();
  yield { kind: 'trailer', trailer: { rows, ...(count > 0 && { bodies: count }) } };
}

/**
 * Reads which tables there are, and locks them so that none is dropped or rewritten until the end; writers
 * are not affected. The locks come before the moment that is read: a snapshot from before would show a table
 * that a migration has rewritten meanwhile as empty.
 */
async function lockedTables(session: BulkSession): Promise<readonly SchemaTable[]> {
  for (let locked = ''; ; ) {
    const tables = await readTables(session);
    const names = tables.map(({ name }) => `"${name}"`).join(', ');
    if (names === locked) return tables;
    await session.restart();
    await session.script(`lock table ${names} in access share mode`);
    locked = names;
  }
}

async function momentOf(session: BulkSession): Promise<string> {
  const [row] = await session.query<{ at: number }>(
    'select (extract(epoch from transaction_timestamp()) * 1000)::float8 as at',
  );
  return new Date(row?.at ?? 0).toISOString();
}
