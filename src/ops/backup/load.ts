import type { BodyStore } from '../../platform/bodies/body-store.ts';
import type { BulkSession } from '../../platform/db/bulk-session.ts';
import { hashOf, MigrationMismatch, migrate } from '../../platform/db/migrate.ts';
import { migrations as carried, type Migration } from '../../platform/db/migrations.ts';
import { makePartitions } from '../../platform/db/partitions.ts';
import { continueLog } from '../../sending/events/commands.ts';
import { BodyPlacer, forgetStore } from './bodies.ts';
import { readTables } from './catalogue.ts';
import { countRows, type Header, type Part, type Table, type Trailer } from './parts.ts';
import { BackupRefused, TargetNotEmpty } from './refused.ts';

/** The options of loading a backup. */
export interface LoadOptions {
  /** True for a database that was made for this: its schema may be created again. */
  readonly isOurs: boolean;
  /** Called before anything is written: it may still refuse. */
  readonly onHeader?: (header: Header) => Promise<void> | void;
  /** Called with the number of rows that were added. */
  readonly onRows?: (added: number) => void;
  /** A sentence for the operator. */
  readonly warn: (sentence: string) => void;
  /** The store for bodies that come along; null puts them into the rows that refer to them. */
  readonly bodies?: BodyStore | null;
  /** True where the database before is not to be used again: bodies that lie outside are this one's. */
  readonly isMoved?: boolean;
}

/**
 * Loads a backup into an empty database, brings it up to the present schema, and continues its event log
 * behind all cursors. All of it is in the session's transaction: a failed or interrupted load leaves nothing.
 * @throws BackupRefused, MigrationMismatch, UnavailableError
 */
export async function load(
  session: BulkSession,
  parts: AsyncIterable<Part>,
  { isOurs, onHeader, onRows = () => {}, warn, bodies = null, isMoved = false }: LoadOptions,
): Promise<Trailer> {
  let loader: Loader | null = null;
  const placer = new BodyPlacer(session, bodies);
  for await (const part of parts) {
    if (part.kind === 'header') {
      const { header } = part;
      // A database in use is refused first: advice about keys would be read beside live data.
      if (!isOurs) await refuseUnlessEmpty(session);
      const theirs = migrationsOf(header);
      await onHeader?.(header);
      await prepare(session, header, theirs, isOurs);
      loader = new Loader(session, await readTables(session), { onRows, warn });
    } else if (loader === null) throw new BackupRefused('The backup does not begin with its header.');
    else if (part.kind === 'table') loader.begin(part.table);
    else if (part.kind === 'rows') await loader.add(part.rows);
    else if (part.kind === 'body') await placer.add(part);
    else {
      loader.compare(part.trailer);
      if (placer.placed !== (part.trailer.bodies ?? 0))
        throw new BackupRefused(
          `The backup says that it has ${part.trailer.bodies ?? 0} bodies, and holds ${placer.placed}.`,
        );
      await migrate(session);
      if (!isMoved) await forgetStore(session);
      await continueLog(session);
      // The first plans are made from these figures, and an embedded database collects none without help.
      await session.script('analyze');
      await session.commit();
      return part.trailer;
    }
  }
  throw new BackupRefused('The backup is cut off.');
}

/**
 * The migrations that the backup's schema was made by. @throws MigrationMismatch when one is not carried here
 */
function migrationsOf({ migrations, posthorn }: Header): readonly Migration[] {
  const unknown = migrations.find(
    ({ name, hash }) => !carried.some((own) => own.name === name && hashOf(own.sql) === hash),
  );
  if (unknown)
    throw new MigrationMismatch(
      `The backup was made by Posthorn ${posthorn} and has migration ${unknown.name}, which this version does not know. Restore it with that version or a newer one.`,
    );
  return carried.filter((own) => migrations.some(({ name }) => name === own.name));
}

const PRESENT = `select c.relname as name from pg_class c
where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p', 'v', 'm') and not c.relispartition
order by c.relname`;

/**
 * Brings an empty database to the schema of the backup, with no row in it. @throws TargetNotEmpty when it is
 * not empty
 */
async function prepare(
  session: BulkSession,
  { days }: Header,
  theirs: readonly Migration[],
  isOurs: boolean,
): Promise<void> {
  if (isOurs) await emptyUnlessOfThose(session, theirs);
  await migrate(session, theirs);
  const tables = await readTables(session);
  await session.script(`truncate ${tables.map(({ name }) => `"${name}"`).join(', ')}`);
  await makePartitions(session, days);
}

/** A new embedded database comes with the present schema, which may have more in it than the backup's. */
async function emptyUnlessOfThose(session: BulkSession, theirs: readonly Migration[]): Promise<void> {
  const present = await session.query<{ name: string }>(PRESENT);
  if (!present.some(({ name }) => name === 'posthorn_migrations')) return;
  const applied = await session.query<{ name: string }>('select name from posthorn_migrations');
  if (applied.every(({ name }) => theirs.some((own) => own.name === name))) return;
  const [row] = await session.query<{ schema: string }>('select quote_ident(current_schema()) as schema');
  await session.script(`drop schema ${row?.schema} cascade; create schema ${row?.schema}`);
}

async function refuseUnlessEmpty(session: BulkSession): Promise<void> {
  const present = (await session.query<{ name: string }>(PRESENT)).map(({ name }) => name);
  if (!present.includes('posthorn_migrations')) {
    if (present.length > 0) throw notEmpty(present);
    return;
  }
  const [found] = present.includes('workspaces')
    ? await session.query<{ used: boolean }>('select exists (select from workspaces) as used')
    : [];
  if (found?.used)
    throw new TargetNotEmpty(
      'There is a Posthorn in this database already. A backup is restored into an empty one.',
    );
  // All tables are emptied before they are filled, so that no foreign rows remain.
  const own = tablesOfMigrations();
  const others = (await readTables(session)).map(({ name }) => name).filter((name) => !own.has(name));
  if (others.length > 0) throw notEmpty(others);
}

const notEmpty = (names: readonly string[]): TargetNotEmpty =>
  new TargetNotEmpty(
    `The database is not empty: it has ${names.slice(0, 3).join(', ')}${names.length > 3 ? ' and more' : ''}. A backup is restored into an empty one.`,
  );

/** Every table that the migrations make, and the one that they are noted in. */
function tablesOfMigrations(): ReadonlySet<string> {
  const made = carried.flatMap(({ sql }) => [...sql.matchAll(/^\s*create (?:unlogged )?table "?(\w+)/gim)]);
  return new Set(['posthorn_migrations', ...made.map(([, name = '']) => name)]);
}

const sorted = (columns: string): string => columns.split(', ').sort().join();

/** Loads the rows of one table after another. */
class Loader {
  readonly #rows: Record<string, number> = {};
  #into: string | null = null;
  #table = '';

  constructor(
    private readonly session: BulkSession,
    private readonly present: readonly Table[],
    private readonly options: Required<Pick<LoadOptions, 'onRows' | 'warn'>>,
  ) {}

  begin({ name, columns }: Table): void {
    this.#table = name;
    this.#rows[name] = 0;
    const own = this.present.find((table) => table.name === name);
    // The names come from a file: only those that the schema has are put into a statement.
    this.#into = own && sorted(own.columns) === sorted(columns) ? `"${name}" (${columns})` : null;
    if (!own) this.options.warn(`The table ${name} does not belong to Posthorn, and is left out.`);
    else if (this.#into === null)
      throw new BackupRefused(`The table ${name} of the backup has other columns than its schema says.`);
  }

  async add(rows: Uint8Array<ArrayBuffer>): Promise<void> {
    if (this.#into !== null) await this.session.copyIn(this.#into, rows);
    const added = countRows(rows);
    this.#rows[this.#table] = (this.#rows[this.#table] ?? 0) + added;
    this.options.onRows(added);
  }

  compare({ rows }: Trailer): void {
    for (const [table, count] of Object.entries(rows))
      if (this.#rows[table] !== count)
        throw new BackupRefused(
          `The backup says that ${table} has ${count} rows, and holds ${this.#rows[table] ?? 0}.`,
        );
  }
}
