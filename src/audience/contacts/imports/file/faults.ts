import type { CsvFaultCode } from '../../../../platform/csv/reader.ts';
import { LONGEST_NAME } from '../../model.ts';
import { LONGEST_PROPERTY, MOST_PROPERTIES } from '../../properties.ts';

/** Why a row is refused. */
export type FaultCode =
  | CsvFaultCode
  | 'wrong_cell_count'
  | 'missing_email'
  | 'invalid_email'
  | 'invalid_number'
  | 'ambiguous_number'
  | 'number_too_large'
  | 'invalid_boolean'
  | 'invalid_date'
  | 'ambiguous_date'
  | 'unknown_status'
  | 'invalid_properties'
  | 'invalid_character'
  | 'text_too_long'
  | 'too_many_properties';

/**
 * One mistake as it is stored: the physical line, the number of the cell (null: the whole row), and the code.
 */
export type Fault = readonly [line: number, column: number | null, code: FaultCode];

const number = (value: number): string => value.toLocaleString('en');

/** The message of each code, with the next step. */
const MESSAGES: Readonly<Record<FaultCode, string>> = {
  stray_quote: 'There is text behind the closing quote of this cell. Write a quote inside a cell twice.',
  unclosed_quote: 'The quote that opens this cell is not closed within 100 lines and 65,536 characters.',
  cell_too_long: 'This cell is longer than 65,536 characters.',
  row_too_long: 'This row is longer than 262,144 characters.',
  too_many_cells: 'This row has more than 2,000 cells.',
  wrong_cell_count: 'This row has more cells than the header.',
  missing_email: 'The address is missing.',
  invalid_email: 'This is no address such as user@example.com.',
  invalid_number: 'This is no number such as 42 or -1.5.',
  ambiguous_number: 'This may be two numbers: say number:point or number:comma in columns.',
  number_too_large: `Numbers lie between ${Number.MIN_SAFE_INTEGER} and ${Number.MAX_SAFE_INTEGER}; take longer ones as texts.`,
  invalid_boolean: 'This is neither true nor false.',
  invalid_date: 'This is no date such as 2026-11-22 or 2026-11-22T09:30:00Z.',
  ambiguous_date: 'This may be two days: say date:dmy or date:mdy in columns.',
  unknown_status:
    'This does not say whether the person may be written to, so that the row is refused. Write subscribed, unsubscribed, bounced or complained, or say what the column becomes.',
  invalid_properties: 'This is no JSON object of properties such as {"plan": "pro"}.',
  invalid_character: 'This cell holds a NUL character.',
  text_too_long: `Names have at most ${LONGEST_NAME} characters, texts ${number(LONGEST_PROPERTY)}.`,
  too_many_properties: `A contact has at most ${MOST_PROPERTIES} properties.`,
};

/** The message of a code, with the next step. */
export const sentenceOf = (code: FaultCode): string => MESSAGES[code];

/** A mistake as it is answered. */
export interface ImportError {
  readonly line: number;
  readonly column: number | null;
  readonly code: FaultCode;
  readonly message: string;
}

/** A stored mistake, with the name of its column and a sentence. */
export function errorOf([line, column, code]: Fault, headers: readonly string[]): ImportError {
  const header = column === null ? undefined : headers[column - 1];
  const sentence = MESSAGES[code];
  return { line, column, code, message: header === undefined ? sentence : `${header}: ${sentence}` };
}

/** Codes for the documentation. */
export const FAULT_CODES = Object.keys(MESSAGES) as readonly FaultCode[];
