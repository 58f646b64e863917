import type { Database, Parameter } from '../../db/database.ts';
import { codeOf } from '../../db/sqlstate.ts';
import type { Duty } from '../../duties/duty.ts';
import type { Kind } from '../../engine/kind.ts';
import type { Logger } from '../../telemetry/logger.ts';
import { type OwnedTable, surveyTables } from './owned-tables.ts';

// A workspace may have millions of rows, and the server ends a statement after some seconds, so a statement removes few rows, and looks at
// few where no index tells whose they are. Each is a transaction of its own: what a crash cuts off goes on where it was.

/** The rows that one statement removes: some 50 ms. */
const BATCH = 1_000;
/** The rows that one statement looks at, in a table without an index by workspace. */
const WINDOW = 10_000;

/** A row is still pointed to by one of another table. */
const FOREIGN_KEY_VIOLATION = '23503';

/**
 * What wakes emails goes first, and what is known of a sent email last: without its turns an email would look as if it had never been
 * sent, to an instance that takes it over.
 */
const ORDER: readonly string[] = ['email_due', 'emails', 'email_turns'];

/** Accounts that belong to no workspace go with the last one, and with them what they sign in with. */
const PEOPLE = [
  `delete from browser_sessions s where s.kind = 'account'
     and not exists (select from members m where m.account_id = s.subject_id)`,
  'delete from passkeys p where not exists (select from members m where m.account_id = p.account_id)',
  'delete from recovery_codes r where not exists (select from members m where m.account_id = r.account_id)',
  'delete from accounts a where not exists (select from members m where m.account_id = a.id)',
];

/** How a workspace is erased. */
export interface Erasing {
  /** It ends between two statements once this is aborted. */
  readonly stop?: AbortSignal | undefined;
  /** Hears how many rows of a table have just been removed. */
  readonly onRemoved?: (table: string, rows: number) => void;
  readonly batch?: number;
  readonly window?: number;
}

/**
 * Removes a workspace and every row that belongs to it. The workspace itself goes last, so that it may be repeated after a crash, and by
 * several at once. False when it was stopped before the end. @throws Unavailable
 */
export async function eraseWorkspace(
  database: Database,
  journals: ReadonlyMap<string, string>,
  workspaceId: string,
  erasing: Erasing = {},
): Promise<boolean> {
  const { owned } = await surveyTables(database, journals);
  const eraser = new Eraser(database, workspaceId, owned, erasing);
  // What was under way may still write while its tables are emptied: it is over when there was nothing left.
  for (let removed = -1; removed !== 0; ) {
    removed = await forget(database, journals, workspaceId);
    removed += await eraser.pass();
    if (erasing.stop?.aborted) return false;
  }
  for (const statement of PEOPLE) await database.query(statement);
  await database.query('delete from workspaces where id = $1', [workspaceId]);
  return true;
}

/** The values of the key columns of some rows, as text, column by column. */
type Keys = readonly (readonly string[])[];

class Eraser {
  readonly #named: readonly OwnedTable[];
  readonly #batch: number;
  readonly #window: number;

  constructor(
    private readonly database: Database,
    private readonly workspaceId: string,
    private readonly owned: readonly OwnedTable[],
    private readonly erasing: Erasing,
  ) {
    const place = ({ table }: OwnedTable) =>
      ORDER.includes(table) ? ORDER.indexOf(table) - ORDER.length : 0;
    this.#named = owned.filter(({ owner }) => owner === null).sort((a, b) => place(a) - place(b));
    this.#batch = erasing.batch ?? BATCH;
    this.#window = erasing.window ?? WINDOW;
  }

  /** Removes what there is, and answers how many rows that were. */
  async pass(): Promise<number> {
    let removed = 0;
    let left = this.#named;
    while (left.length > 0 && !this.#isStopped()) {
      const held: OwnedTable[] = [];
      for (const table of left)
        removed += await this.#empty(table).catch((error: unknown) => {
          if (codeOf(error) !== FOREIGN_KEY_VIOLATION) throw error;
          held.push(table);
          return 0;
        });
      if (held.length === left.length)
        throw new Error(`Tables point at one another: ${held.map(({ table }) => table).join(', ')}.`);
      left = held;
    }
    return removed;
  }

  #isStopped(): boolean {
    return this.erasing.stop?.aborted ?? false;
  }

  /** Removes the rows of a table, and before each of them those that belong to it. */
  async #empty(table: OwnedTable): Promise<number> {
    const children = this.owned.filter(({ owner }) => owner?.table === table.table);
    let removed = 0;
    for await (const keys of table.isIndexed ? this.#byIndex(table) : this.#byWalk(table)) {
      const ids = keys[table.key.findIndex(({ name }) => name === 'id')] ?? [];
      for (const child of children) removed += await this.#emptyOf(child, ids);
      if (this.#isStopped()) return removed;
      removed += await this.#remove(table, keys, ['workspace_id', [this.workspaceId]]);
    }
    return removed;
  }

  /** The next rows of a table, again and again: those that it has told of have to be gone then. */
  async *#byIndex(table: OwnedTable): AsyncGenerator<Keys> {
    const text = `select ${keysAsText(table)} from ${table.table} t where workspace_id = $1 limit ${this.#batch}`;
    for (let last = ''; !this.#isStopped(); ) {
      const rows = await this.#rows(text, [this.workspaceId]);
      if (rows.length > 0) yield columnsOf(rows);
      if (rows.length < this.#batch) return;
      const first = JSON.stringify(rows[0]);
      if (first === last) throw new Error(`Rows of ${table.table} cannot be removed.`);
      last = first;
    }
  }

  /** Those of all rows that are the workspace's, in the order of the key. Of a window the last row is told as well: the next one begins there. */
  async *#byWalk(table: OwnedTable): AsyncGenerator<Keys> {
    const names = columnsOfKey(table).map(({ name }) => name);
    // Where tables are distributed the workspace ends every key.
    const read = [...new Set([...names, 'workspace_id'])];
    let last: readonly string[] | undefined;
    do {
      const after = columnsOfKey(table).map(({ type }, index) => `$${index + 2}::text::${type}`);
      const rows: (readonly string[])[] = await this.#rows(
        `select * from (
           select ${keysAsText(table)}, (workspace_id = $1)::text as own, (row_number() over (order by ${names}))::text as place
           from (
             select ${read} from ${table.table} ${last ? `where (${names}) > (${after})` : ''}
             order by ${names} limit ${this.#window}
           ) t
         ) looked where own = 'true' or place = '${this.#window}'`,
        [this.workspaceId, ...(last ?? [])],
      );
      const own = rows.filter((row) => row.at(-2) === 'true').map((row) => row.slice(0, -2));
      for (let from = 0; from < own.length; from += this.#batch)
        yield columnsOf(own.slice(from, from + this.#batch));
      last = rows.find((row) => row.at(-1) === `${this.#window}`)?.slice(0, -2);
    } while (last && !this.#isStopped());
  }

  async #rows(text: string, parameters: readonly Parameter[]): Promise<(readonly string[])[]> {
    const rows = await this.database.query<Record<string, string>>(text, parameters);
    return rows.map((row) => Object.values(row));
  }

  /** Removes the rows of a table that belong to rows of another. */
  async #emptyOf(table: OwnedTable, ids: readonly string[]): Promise<number> {
    const column = table.owner?.column ?? '';
    const text = `select ${keysAsText(table)} from unnest($1::text[]) o(id) cross join lateral (
      select ${columnsOfKey(table).map(({ name }) => name)} from ${table.table} where ${column} = o.id limit ${this.#batch}
    ) t limit ${this.#batch}`;
    let removed = 0;
    while (!this.#isStopped()) {
      const rows = await this.#rows(text, [ids]);
      if (rows.length > 0) removed += await this.#remove(table, columnsOf(rows), [column, ids]);
      if (rows.length < this.#batch) break;
    }
    return removed;
  }

  /**
   * Removes rows by their keys, if they are still of those in `of`: the place of a row that has gone may be another's by now. Those that
   * somebody else removes meanwhile count as well: whoever is told fewer than there were would take the table for empty.
   */
  async #remove(
    table: OwnedTable,
    keys: Keys,
    [column, values]: readonly [column: string, values: readonly string[]],
  ): Promise<number> {
    const columns = columnsOfKey(table);
    const lists = columns.map((_, index) => `$${index + 2}::text[]`).join(', ');
    const names = columns.map(({ name }) => `k_${name}`).join(', ');
    const isSame = columns.map(({ name, type }) => `t.${name} = f.k_${name}::${type}`).join(' and ');
    // Without `coalesce` the planner may look rows up by that column, a million for each key.
    await this.database.query(
      `delete from ${table.table} t using unnest(${lists}) f(${names})
       where ${isSame} and coalesce(t.${column}, '') = any ($1::text[])`,
      [values, ...keys],
    );
    const rows = keys[0]?.length ?? 0;
    this.erasing.onRemoved?.(table.table, rows);
    return rows;
  }
}

/** The primary key; the place of a row in a table that has none. */
const columnsOfKey = ({ key }: OwnedTable): OwnedTable['key'] =>
  key.length > 0 ? key : [{ name: 'ctid', type: 'tid' }];

const keysAsText = (table: OwnedTable): string =>
  columnsOfKey(table)
    .map(({ name }) => `t.${name}::text as k_${name}`)
    .join(', ');

const columnsOf = (rows: readonly (readonly string[])[]): Keys =>
  (rows[0] ?? []).map((_, index) => rows.map((row) => row[index] ?? ''));

/** Links that were made for it, and events on their way to its actors. */
async function forget(
  database: Database,
  journals: ReadonlyMap<string, string>,
  workspaceId: string,
): Promise<number> {
  await database.query(`delete from one_time_tokens where subject::text like '%' || $1 || '%'`, [
    workspaceId,
  ]);
  let removed = 0;
  for (const actors of new Set(journals.values())) {
    // `offset 0` has the actor looked up for each event: there may be a million actors, and few events are under way.
    const text = `select e.id from (select id, to_id from actor_outbox offset 0) e where exists (
        select true from ${actors} a where a.id = e.to_id and a.workspace_id = $1 offset 0
      ) limit ${BATCH}`;
    for (let rows = BATCH; rows === BATCH; removed += rows) {
      const events = await database.query<{ id: string }>(text, [workspaceId]);
      rows = events.length;
      if (rows > 0)
        await database.query('delete from actor_outbox where id = any($1::text[])', [
          events.map(({ id }) => id),
        ]);
    }
  }
  return removed;
}

/** The table of the actors of each journal; their births where that is a view, which a distributed database looks nothing up in. */
export const journalsOf = (
  kinds: readonly { readonly kind: Pick<Kind, 'journal' | 'table' | 'life'> }[],
): ReadonlyMap<string, string> =>
  new Map(kinds.map(({ kind }) => [kind.journal, kind.life?.births ?? kind.table]));

/** Rows after which somebody who waits is told how far it is. */
const TOLD_EVERY = 100_000;

/** Tells, in a sentence, how many rows are gone: every 100,000, and at the end. */
export function tellProgress(tell: (sentence: string) => void) {
  let removed = 0;
  return {
    onRemoved(table: string, rows: number): void {
      const before = Math.floor(removed / TOLD_EVERY);
      removed += rows;
      if (Math.floor(removed / TOLD_EVERY) > before)
        tell(`${removed.toLocaleString('en')} rows are gone, the last ones of ${table}.`);
    },
    end(): void {
      tell(`All rows are gone, ${removed.toLocaleString('en')} in this run.`);
    },
  };
}

/** Removes the rows of deleted workspaces, once nothing is paid for them any more. */
export const workspaceEraser = (
  { database, logger }: { readonly database: Database; readonly logger: Pick<Logger, 'info'> },
  journals: ReadonlyMap<string, string>,
  endSubscriptions: (workspaceId: string) => Promise<void>,
): Duty => ({
  name: 'workspaceEraser',
  pattern: '20 * * * * *',
  async run(stop) {
    const rows = await database.query<{ id: string }>(
      'select id from workspaces where erase_at is not null order by erase_at',
    );
    const failures: unknown[] = [];
    for (const { id } of rows) {
      if (stop?.aborted) break;
      const progress = tellProgress((sentence) => logger.info({ workspaceId: id }, sentence));
      try {
        await endSubscriptions(id);
        const { onRemoved } = progress;
        if (await eraseWorkspace(database, journals, id, { stop, onRemoved })) progress.end();
      } catch (error) {
        // One that cannot go yet keeps none of the others.
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
  },
});
