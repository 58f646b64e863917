/**
 * The fields by which a message is known, and whether they are well formed (RFC 5322 3.6.1, 3.6.4 and 4.3).
 */
import { type RawField, valueOfField } from './header-editor.ts';

/** A longer Date or Message-ID is malformed, whatever its comments say. */
const LONGEST_FIELD = 2_048;
const MESSAGE_ID = /^<(?:[!-;=?-~]{1,500}|"[ -~]{1,500}")@[!-;=?-~]{1,500}>$/;
/**
 * RFC 5322 4.5.4: an obsolete one has white space and comments between its words, and none of either is a
 * part of it.
 */
const BETWEEN_WORDS = /("(?:[^"\\]|\\.)*")|[ \t]*([.@<>])[ \t]*/g;

/** The Message-ID with its angle brackets; null where it is missing or malformed. */
export function messageIdOf(fields: readonly RawField[]): string | null {
  const field = fields.find(({ name }) => name === 'message-id');
  if (!field || field.octets.length > LONGEST_FIELD) return null;
  const id = withoutComments(valueOfField(field)).replace(
    BETWEEN_WORDS,
    (_, quoted?: string, sign?: string) => quoted ?? sign ?? '',
  );
  return MESSAGE_ID.test(id) ? id : null;
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];

const DATE =
  /^(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*\s*,?\s*)?(\d{1,2})[\s-]+([a-z]{3})[a-z]*[\s-]+(\d{2,4})\s+(\d{1,2})\s*:\s*(\d{2})(?:\s*:\s*(\d{2}))?\s*(?:[+-]\d{4}|[a-z]{1,5})$/i;

/** True when a message says its date so that programs can read it; obsolete forms are read everywhere. */
export function hasDate(fields: readonly RawField[]): boolean {
  const field = fields.find(({ name }) => name === 'date');
  if (!field || field.octets.length > LONGEST_FIELD) return false;
  const text = withoutComments(valueOfField(field));
  const [, day, month = '', year, hour, minute, second = '0'] =
    text.length > 200 ? [] : (DATE.exec(text) ?? []);
  const place = MONTHS.indexOf(month.toLowerCase());
  if (place === -1) return false;
  const days = new Date(Date.UTC(fullYear(Number(year)), place + 1, 0)).getUTCDate();
  return (
    Number(day) >= 1 &&
    Number(day) <= days &&
    Number(hour) < 24 &&
    Number(minute) < 60 &&
    // A leap second is one (RFC 5322 3.3).
    Number(second) <= 60
  );
}

const fullYear = (year: number): number => (year < 50 ? 2_000 + year : year < 1_000 ? 1_900 + year : year);

/**
 * A value without its comments (RFC 5322 3.2.2), which may lie in each other. In a quoted string there are
 * none; a backslash quotes what follows.
 */
function withoutComments(value: string): string {
  let depth = 0;
  let kept = '';
  let isQuoted = false;
  for (const [part] of value.matchAll(/\\?[\s\S]/gu)) {
    if (depth === 0 && part === '"') isQuoted = !isQuoted;
    if (isQuoted) kept += part;
    else if (part === '(') depth++;
    else if (part === ')' && depth > 0) depth--;
    else if (depth === 0) kept += part;
  }
  return kept.trim();
}
