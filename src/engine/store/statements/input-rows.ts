import type { Parameter } from '../../../platform/db/database.ts';
import { storableJson, withoutNul } from '../../../platform/db/storable.ts';
import { wireText } from '../../../platform/db/wire/wire-text.ts';

/** A column of a statement's input. */
export interface Column {
  readonly name: string;
  readonly type: string;
}

/** `name text, tags text[]` → its columns. No type here has a comma. */
export const columnsOf = (list: string): readonly Column[] =>
  list.split(',').map((column) => {
    const [name = '', type = ''] = column.trim().split(/\s+/);
    return { name, type };
  });

/**
 * The separators of two cells and of two rows, and the sign of null: control characters, which no JSON has
 * unescaped.
 */
interface Marks {
  readonly between: string;
  readonly nothing: string;
  readonly behind: string;
}
const MARKS: Marks = { between: '\u001f', nothing: '\u001e', behind: '\u001d' };
/** A control character, with which every mark begins. */
const SUSPICIOUS = /\p{Cc}/u;

type Rows = readonly Readonly<Record<string, unknown>>[];

/**
 * Rows as a relation inside a statement: a line a row with its cells side by side, all in one text that
 * PostgreSQL splits again. As a list of JSON objects 100 new emails took it more than twice as long to read,
 * since it lexes every body twice and hashes every name in every row; a text a column took it a fifteenth
 * longer. Octets, which may be many, come in a separate text.
 */
export class InputRows {
  /**
   * A query that answers the rows, of which the first column is never null. Its parameters are numbered from
   * `first`.
   */
  readonly sql: string;
  /** Number of the first parameter behind its own. */
  readonly next: number;
  readonly #inLine: readonly Column[];
  readonly #apart: readonly Column[];

  constructor(columns: readonly Column[], first: number) {
    this.#inLine = columns.filter(({ type }) => type !== 'bytea');
    this.#apart = columns.filter(({ type }) => type === 'bytea');
    const [between, nothing, behind, lines] = [first, first + 1, first + 2, first + 3].map(
      (n) => `$${n}::text`,
    );
    this.next = first + 4 + this.#apart.length;
    const octets = this.#apart.map((_, index) => `o${index}`);
    const lists = octets.map(
      (_, index) => `, string_to_array($${first + 4 + index}::text, ${between}, ${nothing})`,
    );
    const cells = [
      ...this.#inLine.map(
        ({ name, type }, index) => `c[${index + 1}]${type === 'text' ? '' : `::${type}`} as ${name}`,
      ),
      ...this.#apart.map(({ name }, index) => `decode(o${index}, 'base64') as ${name}`),
    ];
    // The offset keeps the planner from cutting a line up again for each of its cells.
    this.sql = `select ${cells.join(', ')}
  from (
    select string_to_array(l, ${between}, ${nothing}) as c${octets.map((name) => `, ${name}`).join('')}
    from unnest(string_to_array(${lines}, ${behind})${lists.join('')}) as u(${['l', ...octets].join(', ')}) offset 0
  ) x where c[1] is not null`;
  }

  /** The parameters for these rows; members without a column are skipped, missing ones are null. */
  parameters(rows: Rows): readonly Parameter[] {
    for (let marks = MARKS; ; marks = rarerMarks()) {
      const lines = linesOf(this.#inLine, rows, marks);
      if (lines === undefined) continue;
      const apart = this.#apart.map(({ name }) => octetsOf(name, rows, marks));
      return [marks.between, marks.nothing, marks.behind, lines, ...apart];
    }
  }
}

/**
 * Random marks for a batch that has one of our control characters in a text: no client can know them
 * beforehand.
 */
const rarerMarks = (): Marks => {
  const random = crypto.randomUUID();
  return { between: `\u001f${random}`, nothing: `\u001e${random}`, behind: `\u001d${random}` };
};

/** The rows, a line each; undefined when a mark occurs in a cell. */
function linesOf(
  columns: readonly Column[],
  rows: Rows,
  { between, nothing, behind }: Marks,
): string | undefined {
  const isMarked = (cell: string): boolean =>
    SUSPICIOUS.test(cell) && (cell.includes(between) || cell.includes(nothing) || cell.includes(behind));
  const lines: string[] = [];
  for (const row of rows) {
    const cells: string[] = [];
    for (const { name, type } of columns) {
      const value = row[name];
      if (value === null || value === undefined) cells.push(nothing);
      // The last guard: a value that PostgreSQL refuses would be refused for ever, and the work that it
      // reports would be repeated.
      else if (type === 'json') cells.push(storableJson(JSON.stringify(value)));
      else {
        const cell = type === 'text[]' ? (wireText(value) as string) : String(value);
        // Any text may hold a mark; JSON, numbers and moments hold none.
        if ((type === 'text' || type === 'text[]') && isMarked(cell)) return undefined;
        cells.push(cell);
      }
    }
    lines.push(cells.join(between));
  }
  return withoutNul(lines.join(behind));
}

/** The octets of one column; null when there are none (a shorter list is padded with nulls). */
function octetsOf(name: string, rows: Rows, { between, nothing }: Marks): string | null {
  let isNothing = true;
  const cells = rows.map((row) => {
    const value = row[name];
    if (value === null || value === undefined) return nothing;
    isNothing = false;
    return String(value);
  });
  if (isNothing) return null;
  // Cut up, an empty text is no cell at all instead of one empty one; a second row without a first column is
  // left out.
  return cells.join(between) || between + nothing;
}
