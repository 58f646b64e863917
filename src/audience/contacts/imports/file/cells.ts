import { isDateTime } from '../../../../http/request/schema.ts';
import { wordMeaning } from '../../../../mail/list-files/consent-words.ts';
import { withoutGuard } from '../../../../platform/csv/write.ts';
import type { CellFormat, PropertyTarget } from '../../column-names.ts';
import { isLongProperty, isTooLarge } from '../../properties.ts';
import type { FaultCode } from './faults.ts';

/** A cell as a value, or why it is none. */
export type CellReading = string | number | boolean | { readonly code: FaultCode };

/** A number in JSON or in a programming language. */
const PLAIN = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;

/** A number without its currency and the spaces and apostrophes between its groups. */
const bare = (text: string): string =>
  text
    .trim()
    .replace(/^([+-])\s*(?=\p{Sc})/u, '$1')
    .replace(/^([+-]?)(?:\p{Sc}|[A-Z]{3}(?=[\s\d]))\s*/u, '$1')
    .replace(/(?<=\d)\s*(?:\p{Sc}|[A-Z]{3})$/u, '')
    .replace(/(?<=\d)[\s'’](?=\d{3}(?!\d))/gu, '');

const GROUPED = {
  point: /^[+-]?\d{1,3}(?:,\d{3})+(?:\.\d*)?$/,
  comma: /^[+-]?\d{1,3}(?:\.\d{3})+(?:,\d*)?$/,
} as const;
const COMMA = /^[+-]?(?:\d+(?:,\d*)?|,\d+)$/;

/** The decimal separator that the numbers of a column show. */
export type NumberEvidence = 'point' | 'comma' | 'eitherComma' | 'eitherPoint' | null;

/**
 * The decimal separator that one number shows; null for a number that reads the same in both ways, and for
 * other text.
 */
export function evidenceOfNumber(cell: string): NumberEvidence {
  const text = bare(cell);
  if (text.includes('.') && text.includes(','))
    return GROUPED.point.test(text) ? 'point' : GROUPED.comma.test(text) ? 'comma' : null;
  if (text.includes(',')) {
    if (!GROUPED.point.test(text)) return COMMA.test(text) ? 'comma' : null;
    return text.split(',').length > 2 ? 'point' : /^[+-]?0/.test(text) ? 'comma' : 'eitherComma';
  }
  if (!text.includes('.')) return null;
  if (!GROUPED.comma.test(text)) return PLAIN.test(text) ? 'point' : null;
  return text.split('.').length > 2 ? 'comma' : /^[+-]?0/.test(text) ? 'point' : 'eitherPoint';
}

/** An integer of at least ten digits in the exponential form of a spreadsheet. */
const EXPONENTIAL = /^[+-]?\d(?:[.,](\d{1,20}))?E\+0?(\d{1,3})$/;

/**
 * True for a long number, such as one of a telephone, of which a spreadsheet shows and saves the first digits
 * only.
 */
export function isShortened(cell: string): boolean {
  const [whole, digits = '', exponent] = EXPONENTIAL.exec(cell.trim()) ?? [];
  return whole !== undefined && Number(exponent) >= 9 && digits.length < Number(exponent);
}

/**
 * Reads a number as its column writes it. Without a format `1,234` is refused, since it may be two numbers.
 */
function numberOf(cell: string, format: CellFormat | undefined): CellReading {
  const text = bare(cell);
  const shown = format ?? evidenceOfNumber(cell);
  const read =
    shown === 'comma' ? plainFromComma(text) : GROUPED.point.test(text) ? text.replaceAll(',', '') : text;
  if (shown === 'eitherComma') return { code: 'ambiguous_number' };
  if (!PLAIN.test(read)) return { code: 'invalid_number' };
  const value = Number(read);
  if (!Number.isFinite(value)) return { code: 'invalid_number' };
  return isTooLarge(value) ? { code: 'number_too_large' } : value;
}

/** `1.234,50` → `1234.50` */
const plainFromComma = (text: string): string =>
  GROUPED.comma.test(text) || COMMA.test(text) ? text.replaceAll('.', '').replace(',', '.') : text;

const DATE =
  /^(?:(\d{4})([-/.])(\d{1,2})\2(\d{1,2})|(\d{1,2})([-/.])(\d{1,2})\6(\d{4})\.?)(?:(?:,?\s+|T)(\d{1,2}):(\d{2})(?::(\d{2})(?:\.\d{1,9})?)?(?:\s*([AaPp])\.?[Mm]\.?)?\s*(Z|UTC|GMT|[+-]\d{2}:?\d{2})?)?$/;

/** The order of day and month that a date shows; `either` for one with two readings. */
export function evidenceOfDate(cell: string): 'dmy' | 'mdy' | 'either' | null {
  const [, , , , , first = '', sign, second = ''] = DATE.exec(cell.trim()) ?? [];
  if (first === '' || sign === '.') return null;
  if (Number(first) > 12) return 'dmy';
  if (Number(second) > 12) return 'mdy';
  return Number(first) === Number(second) ? null : 'either';
}

/**
 * A date as ISO 8601 writes it; a time without a zone is UTC. Null for what is none, `either` for one that is
 * two dates.
 */
export function dateOf(cell: string, format: CellFormat | undefined): string | 'either' | null {
  const text = cell.trim();
  if (isDateTime(text) || isDateTime(`${text}T00:00:00Z`)) return text;
  const parts = DATE.exec(text);
  if (!parts) return null;
  const [, yearFirst, , monthSecond = '', dayThird = '', first = '', sign, second = '', yearLast] = parts;
  const shown = sign === '.' ? 'dmy' : (format ?? evidenceOfDate(text));
  if (shown === 'either') return 'either';
  const [year, month, day] = yearFirst
    ? [yearFirst, monthSecond, dayThird]
    : shown === 'mdy'
      ? [yearLast, first, second]
      : [yearLast, second, first];
  const date = `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`;
  const read = parts[9] === undefined ? date : momentOf(date, parts.slice(9));
  return read !== null && isDateTime(read.length === 10 ? `${read}T00:00:00Z` : read) ? read : null;
}

/** A date with a time of a day, in UTC. */
function momentOf(
  date: string,
  [hours = '', minutes, seconds = '00', half, zone]: readonly (string | undefined)[],
) {
  const hour = half ? (Number(hours) % 12) + (half.toLowerCase() === 'p' ? 12 : 0) : Number(hours);
  const offset = zone === undefined || /^[A-Z]/.test(zone) ? 'Z' : zone.replace(/^(.\d\d):?/, '$1:');
  const moment = new Date(`${date}T${String(hour).padStart(2, '0')}:${minutes}:${seconds}${offset}`);
  // Without the zone, since an offset may lead to the day before.
  const isDay = isDateTime(`${date}T00:00:00Z`);
  return isDay && !Number.isNaN(moment.getTime()) ? moment.toISOString().replace('.000Z', 'Z') : null;
}

/** A cell as the value of a property. Nothing is guessed: without a type `007` stays a text. */
export function typedValue(
  cell: string,
  { type, format }: Pick<PropertyTarget, 'type' | 'format'>,
): CellReading {
  if (type === 'string') {
    const text = withoutGuard(cell);
    return isLongProperty(text) ? { code: 'text_too_long' } : text;
  }
  // A spreadsheet guards a number that begins with a sign as it guards a text.
  const text = withoutGuard(cell).trim();
  if (type === 'number') return numberOf(text, format);
  if (type === 'boolean') {
    const meaning = wordMeaning(text);
    return meaning === 'yes' ? true : meaning === 'no' ? false : { code: 'invalid_boolean' };
  }
  const date = dateOf(text, format);
  return date === null ? { code: 'invalid_date' } : date === 'either' ? { code: 'ambiguous_date' } : date;
}
