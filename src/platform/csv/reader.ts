/** Why a row cannot be trusted; none of its cells is read then. */
export type CsvFaultCode =
  | 'stray_quote'
  | 'unclosed_quote'
  | 'cell_too_long'
  | 'row_too_long'
  | 'too_many_cells';

/** A fault: the physical line and the number of the cell, both from 1. */
export interface CsvFault {
  readonly code: CsvFaultCode;
  readonly line: number;
  readonly column: number;
}

/** One row of a file. */
export interface CsvRow {
  /** The physical line on which it begins, from 1. */
  readonly line: number;
  /** Empty in a row with a fault. */
  readonly cells: readonly string[];
  readonly fault: CsvFault | null;
  /** Characters from the reader's beginning to the end of the row, its line end included. */
  readonly end: number;
  /** The line on which the next row begins. */
  readonly nextLine: number;
}

/** Longest cell as it is written, without its outer quotes, in UTF-16 units. */
export const LONGEST_CELL = 65_536;
/** Most lines of a quoted cell: a longer one is a quote that was never closed. */
export const MOST_LINES_OF_CELL = 100;
/** Most cells of a row. */
export const MOST_CELLS = 2_000;
/** No cell begins further into its row, in UTF-16 units. */
export const LONGEST_ROW = 262_144;

const SPACE = 32;
const QUOTE = 34;
const LF = 10;
const CR = 13;

/** The row is not complete in the text at hand. */
const INCOMPLETE = -1;

/** The start of a reader: at the start of a file, or at the end of a row that was read before. */
export interface CsvStart {
  readonly delimiter: string;
  readonly line?: number;
}

/**
 * Reads CSV (RFC 4180) from texts of any length, and holds no more than one row. Unlike the parsers that
 * exist it takes LF, CRLF and CR in one file, names the line of a quote that was never closed, and goes on
 * after every fault: a row with one ends with its physical line, since a forgotten quote must not swallow the
 * rows that follow it. A quote inside a cell that does not begin with one is data; spaces around a cell in
 * quotes are none of it, as in `1, "Lee, Ann"`. Empty lines are skipped.
 */
export class CsvReader {
  readonly #delimiter: number;
  #text = '';
  /** The start of the row under way in the text. */
  #at = 0;
  /** Characters that were dropped before the text. */
  #dropped = 0;
  #line: number;
  /** A fault whose row is skipped up to the end of its line. */
  #failed: { readonly fault: CsvFault; readonly line: number } | null = null;
  // The row under way: its cells, and where the scan is.
  #cells: string[] = [];
  #cursor = 0;
  #cursorLine = 0;

  constructor({ delimiter, line = 1 }: CsvStart) {
    this.#delimiter = delimiter.charCodeAt(0);
    this.#line = line;
  }

  /** The rows that end in this text. `isLast` ends the last row without a line end. */
  read(text: string, isLast: boolean): CsvRow[] {
    this.#dropped += this.#at;
    this.#text = this.#text.slice(this.#at) + text;
    this.#at = 0;
    const rows: CsvRow[] = [];
    for (;;) {
      const row = this.#failed ? this.#endFailed(isLast) : this.#next(isLast);
      if (row === null) return rows;
      if (row !== 'blank') rows.push(row);
    }
  }

  /** The place behind everything that was skipped; null inside a row, and inside the line of a fault. */
  get behindBlank(): Pick<CsvRow, 'end' | 'nextLine'> | null {
    const isBetween = !this.#failed && this.#at === this.#text.length;
    return isBetween ? { end: this.#dropped + this.#at, nextLine: this.#line } : null;
  }

  /**
   * The next row; `blank` for an empty line or a row that just failed, null when the text has no complete
   * one.
   */
  #next(isLast: boolean): CsvRow | 'blank' | null {
    const text = this.#text;
    if (this.#at >= text.length) return null;
    this.#cells = [];
    this.#cursor = this.#at;
    this.#cursorLine = this.#line;
    for (;;) {
      const begin = this.#cursor;
      if (begin - this.#at > LONGEST_ROW) return this.#fail('row_too_long', begin, this.#cursorLine);
      const quote = this.#behindSpaces(begin);
      const end =
        text.charCodeAt(quote) === QUOTE
          ? this.#quotedCell(quote, begin, isLast)
          : this.#plainCell(begin, isLast);
      if (this.#failed) return 'blank';
      if (end === INCOMPLETE) return null;
      if (text.charCodeAt(end) === this.#delimiter && end < text.length) {
        if (this.#cells.length >= MOST_CELLS) return this.#fail('too_many_cells', end, this.#cursorLine);
        this.#cursor = end + 1;
        continue;
      }
      const after = this.#afterLineEnd(end, isLast);
      if (after === INCOMPLETE) return null;
      return this.#finished(end, after);
    }
  }

  #finished(end: number, after: number): CsvRow | 'blank' {
    const isBlank = end === this.#at;
    const line = this.#line;
    this.#at = after;
    this.#line = this.#cursorLine + 1;
    if (isBlank) return 'blank';
    return { line, cells: this.#cells, fault: null, end: this.#dropped + after, nextLine: this.#line };
  }

  /** Reads up to a delimiter or a line end, and says where that is. */
  #plainCell(begin: number, isLast: boolean): number {
    const text = this.#text;
    let end = begin;
    for (; end < text.length; end++) {
      const code = text.charCodeAt(end);
      if (code === this.#delimiter || code === LF || code === CR) break;
    }
    if (end - begin > LONGEST_CELL) return this.#failCell('cell_too_long', begin, this.#cursorLine);
    if (end === text.length && !isLast) return INCOMPLETE;
    this.#cells.push(text.slice(begin, end));
    return end;
  }

  #behindSpaces(begin: number): number {
    let at = begin;
    while (this.#text.charCodeAt(at) === SPACE) at++;
    return at;
  }

  /**
   * Reads a cell in quotes, and says where what follows it is. Behind spaces, a quote that is not closed at
   * the end of the cell, in the line that it opens, is data: two signs for inches would swallow the rows
   * between them.
   */
  #quotedCell(begin: number, cellBegin: number, isLast: boolean): number {
    const text = this.#text;
    const fail = (code: CsvFaultCode, from: number, at: number): number =>
      cellBegin < begin ? this.#plainCell(cellBegin, isLast) : this.#failCell(code, from, at);
    const opened = this.#cursorLine;
    let line = opened;
    let from = begin + 1;
    let cell = '';
    for (let at = from; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (code === CR && at + 1 === text.length && !isLast) return INCOMPLETE;
      if (cellBegin < begin && (code === LF || code === CR)) return this.#plainCell(cellBegin, isLast);
      if (code === LF || (code === CR && text.charCodeAt(at + 1) !== LF)) {
        line++;
        if (line - opened >= MOST_LINES_OF_CELL) return fail('unclosed_quote', begin, opened);
      } else if (code === QUOTE) {
        if (text.charCodeAt(at + 1) === QUOTE) {
          cell += text.slice(from, at + 1);
          from = at + 2;
          at++;
          if (at - begin > LONGEST_CELL) return fail('unclosed_quote', begin, opened);
          continue;
        }
        const end = this.#behindSpaces(at + 1);
        if (end - at > LONGEST_CELL) return this.#failCell('cell_too_long', begin, opened);
        if (end === text.length && !isLast) return INCOMPLETE;
        const next = text.charCodeAt(end);
        if (end < text.length && next !== this.#delimiter && next !== LF && next !== CR)
          return fail('stray_quote', at + 1, line);
        this.#cells.push(cell + text.slice(from, at));
        this.#cursorLine = line;
        return end;
      }
      if (at - begin > LONGEST_CELL) return fail('unclosed_quote', begin, opened);
    }
    return isLast ? fail('unclosed_quote', begin, opened) : INCOMPLETE;
  }

  #failCell(code: CsvFaultCode, from: number, line: number): typeof INCOMPLETE {
    this.#fail(code, from, line);
    return INCOMPLETE;
  }

  /** Gives up the row under way; the text is skipped from there to the end of that physical line. */
  #fail(code: CsvFaultCode, from: number, line: number): 'blank' {
    const column = Math.min(this.#cells.length + 1, MOST_CELLS + 1);
    this.#failed = { fault: { code, line, column }, line: this.#line };
    this.#line = line;
    this.#at = from;
    this.#cells = [];
    return 'blank';
  }

  /** Passes over what is left of a line with a fault. */
  #endFailed(isLast: boolean): CsvRow | null {
    const text = this.#text;
    let end = this.#at;
    while (end < text.length && text.charCodeAt(end) !== LF && text.charCodeAt(end) !== CR) end++;
    const after = end === text.length && !isLast ? INCOMPLETE : this.#afterLineEnd(end, isLast);
    this.#at = after === INCOMPLETE ? end : after;
    if (after === INCOMPLETE || !this.#failed) return null;
    const { fault, line } = this.#failed;
    this.#failed = null;
    this.#line++;
    return { line, cells: [], fault, end: this.#dropped + after, nextLine: this.#line };
  }

  /** The start of the next line. A CR at the end of the text may be half of a CRLF. */
  #afterLineEnd(end: number, isLast: boolean): number {
    const text = this.#text;
    if (end >= text.length) return end;
    if (text.charCodeAt(end) === LF) return end + 1;
    if (end + 1 === text.length && !isLast) return INCOMPLETE;
    return text.charCodeAt(end + 1) === LF ? end + 2 : end + 1;
  }
}
