/** The byte order mark, without which Excel takes UTF-8 for the code page of the machine. */
export const CSV_MARK = '\ufeff';

/**
 * A cell that a spreadsheet would run: OWASP's list, in the full width of East Asian input as well, behind
 * apostrophes or not.
 */
const FORMULA = /^'*[=+\-@\t\r\n＝＋－＠]/;

/**
 * The same behind a separator of other countries. Excel splits a file at the list separator of its machine,
 * and so in most of Europe at a semicolon, also between the quotes of a cell that is not the first one:
 * `x;=1+1;y` becomes three cells, and the second one is run. A line break within such a cell begins a row
 * there. A smile such as `;-)` is none.
 */
const FORMULA_WITHIN = /([;\t|\r\n])(?=['"]*(?:[=@＝＠]|[+\-＋－][^)]))/g;
const GUARD_WITHIN = /([;\t|\r\n])'(?=['"]*(?:[=@＝＠]|[+\-＋－][^)]))/g;

const NEEDS_QUOTES = /[",;\t|\r\n]|^\s|\s$/;

/** The content of a cell; null is an empty one. */
export type CellValue = string | number | boolean | null;

/**
 * A row of CSV (RFC 4180, CRLF at its end) that no spreadsheet runs: a text that could be a formula gets an
 * apostrophe before it, also within a cell, which `withoutGuard` takes away again. Numbers and booleans are
 * written as they are.
 */
export const csvRow = (cells: readonly CellValue[]): string => `${cells.map(cellOf).join(',')}\r\n`;

function cellOf(value: CellValue): string {
  if (value === null) return '';
  if (typeof value !== 'string') return String(value);
  const whole = value.replace(FORMULA_WITHIN, "$1'");
  const harmless = FORMULA.test(whole) ? `'${whole}` : whole;
  return NEEDS_QUOTES.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}

/**
 * The text of a cell without the apostrophes that `csvRow` puts before formulas: reading gives back what was
 * written.
 */
export function withoutGuard(cell: string): string {
  const whole = cell.charCodeAt(0) === 39 && FORMULA.test(cell) ? cell.slice(1) : cell;
  return whole.includes("'") ? whole.replace(GUARD_WITHIN, '$1') : whole;
}
