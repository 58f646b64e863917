import { hasControls } from '../../platform/text/characters.ts';
import type { Report } from '../../platform/text/problems.ts';

/** The methods of iTIP (RFC 5546 1.4). */
export const CALENDAR_METHODS = [
  'PUBLISH',
  'REQUEST',
  'REPLY',
  'ADD',
  'CANCEL',
  'REFRESH',
  'COUNTER',
  'DECLINECOUNTER',
] as const satisfies readonly string[];

/** The longest calendar, in characters. */
export const LONGEST_CALENDAR = 262_144;

/** An invitation or another message of a calendar, which a reader can answer (RFC 6047). */
export interface Calendar {
  readonly method: string;
  /** iCalendar (RFC 5545). */
  readonly content: string;
}

const BROKEN = 'Must be iCalendar text without control characters.';
const NO_CALENDAR = 'Must be one calendar: from the line BEGIN:VCALENDAR to the line END:VCALENDAR.';
const NOTHING = 'Must hold an event, a task, a journal entry or a free-busy time, such as BEGIN:VEVENT.';

/**
 * Checks a calendar. `at` is the pointer to it. A reader shows no buttons where the two methods differ (RFC
 * 6047 2.4).
 */
export function readCalendar({ method, content }: Calendar, at: string, report: Report): Calendar {
  const problem = problemOf(method, content);
  if (problem !== null) report(`${at}/content`, problem);
  return { method, content };
}

function problemOf(method: string, content: string): string | null {
  if (hasControls(content.replace(/[\r\n\t]/g, ''))) return BROKEN;
  // RFC 5545 3.1: a line that begins with white space continues the one before.
  const lines = content
    .replace(/\r\n?|\n/g, '\n')
    .replace(/\n[ \t]/g, '')
    .replace(/\n+$/, '')
    .split('\n')
    .map((line) => line.toUpperCase().trimEnd());
  const count = (wanted: string) => lines.filter((line) => line === wanted).length;
  const isOne = count('BEGIN:VCALENDAR') === 1 && count('END:VCALENDAR') === 1;
  if (!isOne || lines[0] !== 'BEGIN:VCALENDAR' || lines.at(-1) !== 'END:VCALENDAR') return NO_CALENDAR;
  const methods = lines.filter((line) => /^METHOD[:;]/.test(line));
  if (methods.length !== 1 || methods[0] !== `METHOD:${method}`)
    return `Must have the line METHOD:${method}, as the member method says, and no other METHOD.`;
  return lines.some((line) => /^BEGIN:V(?:EVENT|TODO|JOURNAL|FREEBUSY)$/.test(line)) ? null : NOTHING;
}
