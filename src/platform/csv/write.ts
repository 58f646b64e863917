/** The byte order mark, without which Excel takes UTF-8 for the code page of the machine. */
export const CSV_MARK = '\ufeff';

/** A cell that a spreadsheet would run: OWASP's list, in the full width of East Asian input as well, behind apostrophes or not. */
const FORMULA = /^'*[=+\-@\t\r\n＝＋－＠]/;

const NEEDS_QUOTES = /[",;\t|\r\n]|^\s|\s$/;

/** The content of a cell; null is an empty one. */
export type CellValue = string | number | boolean | null;

/**
 * A row of CSV (RFC 4180, CRLF at its end) that no spreadsheet runs: a text that could be a formula gets an apostrophe before
 * it, which `withoutGuard` takes away again. Numbers and booleans are written as they are.
 */
export const csvRow = (cells: readonly CellValue[]): string => `${cells.map(cellOf).join(',')}\r\n`;

function cellOf(value: CellValue): string {
  if (value === null) return '';
  if (typeof value !== 'string') return String(value);
  const harmless = FORMULA.test(value) ? `'${value}` : value;
  return NEEDS_QUOTES.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}

/** The text of a cell without the apostrophe that `csvRow` puts before a formula: reading gives back what was written. */
export const withoutGuard = (cell: string): string =>
  cell.charCodeAt(0) === 39 && FORMULA.test(cell) ? cell.slice(1) : cell;
