import { zones } from '../../../platform/zones/zones.ts';
import { LiquidProblem } from '../limits.ts';

/** A moment as clocks and calendars of one zone show it. */
export interface Moment {
  readonly epochMs: number;
  readonly year: number;
  /** From 1. */
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
  readonly millisecond: number;
  /** Of the zone, ahead of UTC. */
  readonly offsetSeconds: number;
  readonly zone: Zone;
}

/** A zone by its name, or by the minutes that it is behind UTC. */
type Zone = string | number;

/** The zone as the rules know it. @throws LiquidProblem for a name that is none */
function known(zone: string): string {
  const name = zones.nameOf(zone);
  if (name === null)
    throw new LiquidProblem('Must give the filter date a time zone such as "Europe/Berlin".', true);
  return name;
}

/** The clocks of a zone as if they showed UTC. */
const shownIn = (epochMs: number, zone: Zone): number =>
  epochMs + (typeof zone === 'number' ? -zone * 60_000 : zones.offsetAt(epochMs, known(zone)));

/** The abbreviation of a zone, such as CET; null for a zone without a name. */
export function zoneNameOf({ epochMs, zone }: Pick<Moment, 'epochMs' | 'zone'>): string | null {
  if (typeof zone === 'number') return null;
  return zones.changesOf(known(zone), epochMs, epochMs)[0]?.abbreviation ?? null;
}

function momentAt(epochMs: number, zone: Zone): Moment {
  const ms = shownIn(epochMs, zone);
  const shown = new Date(ms);
  return {
    epochMs,
    year: shown.getUTCFullYear(),
    month: shown.getUTCMonth() + 1,
    day: shown.getUTCDate(),
    hour: shown.getUTCHours(),
    minute: shown.getUTCMinutes(),
    second: shown.getUTCSeconds(),
    millisecond: shown.getUTCMilliseconds(),
    offsetSeconds: Math.round((ms - epochMs) / 1_000),
    zone,
  };
}

/** The moment at which the clocks of a zone show that. */
const whenShown = (shownMs: number, zone: Zone): number =>
  typeof zone === 'number'
    ? shownMs + zone * 60_000
    : zones.momentOf(
        Temporal.Instant.fromEpochMilliseconds(shownMs).toZonedDateTimeISO('UTC').toPlainDateTime(),
        known(zone),
      );

/** A day, or a time of a day, that names no zone. */
const IS_LOCAL = /^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?)?$/;
const NAMES_ZONE = /(?:Z|UT|UTC|GMT|[ECMP][SD]T|[+-]\d{2}:?\d{2})(?:\s*\(.*\))?$/i;
/** The longest text that is read as a time. */
const LONGEST = 100;

/**
 * Reads a value as a moment: seconds of Unix time, or a text. A text that names no zone is meant in the zone
 * in force: a day stays that day wherever it is shown. Null for what is no time.
 */
export function momentOf(value: unknown, zone: Zone): Moment | null {
  if (typeof value === 'number') return isMoment(value * 1_000) ? momentAt(value * 1_000, zone) : null;
  if (typeof value !== 'string' || value.length > LONGEST) return null;
  const text = value.trim();
  if (!isOfCalendar(text)) return null;
  if (/^-?\d{1,13}$/.test(text)) return momentOf(Number(text), zone);
  if (NAMES_ZONE.test(text) && !IS_LOCAL.test(text)) {
    const epochMs = Date.parse(
      text.replace(/^(\d{4}-\d{2}-\d{2}) (?=\d)/, '$1T').replace(/ (?=[+-]\d{2}:?\d{2}$)/, ''),
    );
    return isMoment(epochMs) ? momentAt(epochMs, zone) : null;
  }
  const shown = Date.parse(IS_LOCAL.test(text) ? isoOf(text) : `${text} UTC`);
  return isMoment(shown) ? momentAt(whenShown(shown, zone), zone) : null;
}

/**
 * False of a text that begins with a day that no month has, such as 2026-02-30: it would become one of the
 * next month.
 */
function isOfCalendar(text: string): boolean {
  const [day] = /^\d{4}-\d{2}-\d{2}/.exec(text) ?? [];
  if (day === undefined) return true;
  const read = new Date(`${day}T00:00:00Z`);
  return !Number.isNaN(read.getTime()) && read.toISOString().startsWith(day);
}

const isoOf = (text: string): string =>
  text.length === 10 ? `${text}T00:00:00Z` : `${text.replace(' ', 'T').replace(',', '.')}Z`;

/** Far from the ends of what JavaScript can show, so that no zone leads beyond. */
const isMoment = (epochMs: number): boolean => Math.abs(epochMs) < 8.6e15;
