import type { Parameter } from '../database.ts';

/** Gives a value its name in the text of a statement: `$1`, `$2`, … */
export type BindParameter = (value: Parameter) => string;

/** The values of one statement, in the order in which its text names them. */
export class Values {
  readonly list: Parameter[] = [];
  readonly put: BindParameter = (value) => `$${this.list.push(value)}`;
}

/** The text of a moment, as `column::text` answers it, in ISO 8601; null stays null. */
export function isoOf(moment: string | null): string | null {
  if (moment === null) return null;
  const end = moment.length - UTC.length;
  // A list has a hundred moments, and a Date takes ten times as long to be read and written as its text to be
  // put together.
  if (end < SECONDS || end > MILLISECONDS || !moment.endsWith(UTC)) return new Date(moment).toISOString();
  const fraction = end === SECONDS ? '.000' : moment.slice(SECONDS, end).padEnd(4, '0');
  return `${moment.slice(0, 10)}T${moment.slice(11, SECONDS)}${fraction}Z`;
}

const UTC = '+00';
/** The ends of the seconds and of the milliseconds in `2026-11-22 14:38:00.123+00`. */
const SECONDS = 19;
const MILLISECONDS = 23;

/** The ILIKE pattern of texts that contain a text, in which no character is a wildcard (PostgreSQL 9.7.1). */
export const containing = (text: string): string => `%${text.replace(/[\\%_]/g, '\\$&')}%`;
