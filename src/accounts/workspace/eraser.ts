import type { Database, Parameter } from '../../platform/db/database.ts';
import { codeOf } from '../../platform/db/sqlstate.ts';
import type { OwnedTable } from './owned-tables.ts';

// A workspace may have millions of rows, and the server ends a statement after some seconds, so each
// statement removes few rows, and looks at few where no index names the owner. Each is its own transaction,
// so that erasing resumes where a crash stopped it.

/** The rows that one statement removes: some 50 ms. */
export const BATCH = 1_000;
/** The rows that one statement looks at, in a table without an index by workspace. */
const WINDOW = 10_000;

/** The error of a row that another table still references. */
const FOREIGN_KEY_VIOLATION = '23503';

/**
 * The rows that wake emails go first and the turns of sent emails last: without its turns, an email would
 * look unsent to an instance that takes it over.
 */
const ORDER: readonly string[] = ['email_due', 'emails', 'email_turns'];

/** The parameters of erasing a workspace. */
export interface ErasureOptions {
  /** Stops between two statements once this is aborted. */
  readonly stop?: AbortSignal | undefined;
  /** Called with the number of rows that were just removed from a table. */
  readonly onRemoved?: (table: string, rows: number) => void;
  readonly batch?: number;
  readonly window?: number;
}

/** The values of the key columns of some rows, as text, column by column. */
type Keys = readonly (readonly string[])[];

/** Removes the rows of a workspace, table by table. */
export class Eraser {
  readonly #named: readonly OwnedTable[];
  readonly #batch: number;
  readonly #window: number;

  constructor(
    private readonly database: Database,
    private readonly workspaceId: string,
    private readonly owned: readonly OwnedTable[],
    private readonly erasing: ErasureOptions,
  ) {
    const place = ({ table }: OwnedTable) =>
      ORDER.includes(table) ? ORDER.indexOf(table) - ORDER.length : 0;
    this.#named = owned.filter(({ owner }) => owner === null).sort((a, b) => place(a) - place(b));
    this.#batch = erasing.batch ?? BATCH;
    this.#window = erasing.window ?? WINDOW;
  }

  /** Removes a batch, and returns the number of its rows. */
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
        throw new Error(`Tables reference one another: ${held.map(({ table }) => table).join(', ')}.`);
      left = held;
    }
    return removed;
  }

  #isStopped(): boolean {
    return this.erasing.stop?.aborted ?? false;
  }

  /** Removes the rows of a table, and before each of them the rows that belong to it. */
  async #empty(table: OwnedTable): Promise<number> {
    const children = this.owned.filter(({ owner }) => owner?.table === table.table);
    let removed = 0;
    for await (const keys of table.isIndexed ? this.#byIndex(table) : this.#byWalk(table)) {
      const ids = keys[table.key.findIndex(({ name }) => name === 'id')] ?? [];
      for (const child of children) removed += await this.#emptyOf(child, ids);
      if (this.#isStopped()) return removed;
      removed +=
        children.length > 0
          ? await this.#removeWith(children, table, ids)
          : await this.#remove(table, keys, ['workspace_id', [this.workspaceId]]);
    }
    return removed;
  }

  /** The next rows of a table; the previous ones must be removed before the next call. */
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

  /**
   * The keys of all rows that belong to the workspace, in order. The last row of a window is returned as
   * well, because the next window starts there.
   */
  async *#byWalk(table: OwnedTable): AsyncGenerator<Keys> {
    const names = columnsOfKey(table).map(({ name }) => name);
    // In distributed tables every key ends with the workspace.
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
   * Removes rows by their keys if they still belong to those in `of`, because the place of a removed row may
   * now hold another one. Rows that another process removes meanwhile count as well; with a lower count, the
   * caller would take the table for empty.
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
    return this.#removed(table, keys[0]?.length ?? 0);
  }

  /**
   * Removes rows in one transaction with the rows that came to belong to them since: an instance that takes
   * over a campaign may write a step meanwhile, and without the campaign that step would have no known owner.
   * The statement waits for locked rows, and each statement of a script sees the commits before it.
   */
  async #removeWith(
    children: readonly OwnedTable[],
    table: OwnedTable,
    ids: readonly string[],
  ): Promise<number> {
    const list = ids.map(literal).join(', ');
    const rows = `${table.table} where id in (${list}) and workspace_id = ${literal(this.workspaceId)}`;
    await this.database.script(
      [
        `select from ${rows} order by id for update`,
        ...children.map((child) => `delete from ${child.table} where ${child.owner?.column} in (${list})`),
        `delete from ${rows}`,
      ].join(';\n'),
    );
    return this.#removed(table, ids.length);
  }

  #removed({ table }: OwnedTable, rows: number): number {
    this.erasing.onRemoved?.(table, rows);
    return rows;
  }
}

const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`;

/** The primary key; the place of a row in a table without one. */
const columnsOfKey = ({ key }: OwnedTable): OwnedTable['key'] =>
  key.length > 0 ? key : [{ name: 'ctid', type: 'tid' }];

const keysAsText = (table: OwnedTable): string =>
  columnsOfKey(table)
    .map(({ name }) => `t.${name}::text as k_${name}`)
    .join(', ');

const columnsOf = (rows: readonly (readonly string[])[]): Keys =>
  (rows[0] ?? []).map((_, index) => rows.map((row) => row[index] ?? ''));
