import type { Part } from './parts.ts';

/** The output for progress. */
interface Screen {
  error(text: string): void;
  readonly columns?: number | undefined;
}

/** The rate that a person can follow. */
const REFRESH_MS = 100;
/** Elsewhere a line comes with each tenth of the whole. */
const LINES = 10;
/** The width of the bar, in characters. */
const LONGEST_BAR = 40;
const SHORTEST_BAR = 5;

/** Shows the progress of a backup or a restore: a bar on a terminal, and a line now and then elsewhere. */
export class Progress {
  #table = '';
  #tables = 0;
  #rows = 0;
  #of = { tables: 0, rows: 0 };
  #bytes = 0;
  #share: number | null = null;
  #shown = Number.NEGATIVE_INFINITY;
  #told = 0;

  constructor(
    private readonly verb: string,
    private readonly screen: Screen,
    private readonly monotonic: () => number = () => performance.now(),
  ) {}

  /** Counts parts on their way. */
  async *count(parts: AsyncIterable<Part>): AsyncGenerator<Part> {
    for await (const part of parts) {
      if (part.kind === 'header') this.#of = { tables: part.header.tables, rows: part.header.estimatedRows };
      if (part.kind === 'table') {
        this.#table = part.table.name;
        this.#tables++;
      }
      yield part;
      this.#show();
    }
  }

  /** Takes the rows that have been read or written so far. */
  addRows(rows: number): void {
    this.#rows += rows;
  }

  /** Takes the number of octets written so far. */
  setBytes(bytes: number): void {
    this.#bytes = bytes;
  }

  /** Takes how much of a file is done, which is more exact than an estimate of rows. */
  setShare(share: number): void {
    this.#share = share;
  }

  /** Leaves the line of the bar to further output. */
  end(): void {
    if (this.screen.columns !== undefined) this.screen.error('\r\u001b[K');
  }

  #show(): void {
    const { columns } = this.screen;
    const share = this.#share ?? Math.min(this.#estimate(), 0.99);
    const now = this.monotonic();
    if (columns === undefined) {
      const lines = Math.floor(share * LINES);
      if (lines <= this.#told) return;
      this.#told = lines;
      this.screen.error(`${this.#line(share)}\n`);
    } else if (now - this.#shown >= REFRESH_MS) {
      this.#shown = now;
      this.screen.error(`\r\u001b[K${barOf(share, this.#line(share), columns)}`);
    }
  }

  /** A database that was never analyzed does not know how many rows it has. */
  #estimate(): number {
    const { rows, tables } = this.#of;
    if (rows > 0) return this.#rows / rows;
    return tables > 0 ? Math.max(this.#tables - 1, 0) / tables : 0;
  }

  #line(share: number): string {
    const size = this.#bytes > 0 ? `, ${sizeOf(this.#bytes)}` : '';
    return `${this.verb} ${Math.floor(share * 100)} %: ${rowsOf(this.#rows)}${size}, table ${this.#tables} of ${this.#of.tables} (${this.#table})`;
  }
}

/** A bar before a line, or the line alone where there is no room for both. */
function barOf(share: number, line: string, columns: number): string {
  const width = Math.min(columns - line.length - 4, LONGEST_BAR);
  if (width < SHORTEST_BAR) return line.slice(0, Math.max(columns - 1, 0));
  const done = Math.round(width * share);
  return `[${'#'.repeat(done)}${'.'.repeat(width - done)}] ${line}`;
}

const UNITS = [
  [1_000_000_000, 'GB'],
  [1_000_000, 'MB'],
  [1_000, 'kB'],
] as const;

/** A number of rows for a person. */
export const rowsOf = (rows: number): string => `${rows.toLocaleString('en')} ${rows === 1 ? 'row' : 'rows'}`;

/** A number of bytes for a person. */
export function sizeOf(bytes: number): string {
  const unit = UNITS.find(([size]) => bytes >= size);
  return unit ? `${(bytes / unit[0]).toFixed(1)} ${unit[1]}` : `${bytes} bytes`;
}
