import { type Detail, type Failure, invalid } from '../../http/failure.ts';
import { isDateTime } from '../../http/schema.ts';

/** The most points of a series. */
export const MOST_POINTS = 400;

const QUARTER_MS = 15 * 60_000;
const HOUR_MS = 60 * 60_000;
const DAY_MS = 24 * HOUR_MS;
/** What is asked for when a question names no beginning. */
const USUAL_DAYS = 30;
const USUAL_HOURS = 24;

/** The time that is asked for, in whole quarters of an hour (epoch milliseconds). */
export interface Period {
  readonly from: number;
  readonly to: number;
  readonly timeZone: string;
  /** The first moment of each interval; the first one is `from`. */
  readonly starts: readonly number[];
}

/** What a question says of its time. */
export interface PeriodQuery {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly interval: 'hour' | 'day';
  readonly timeZone: string;
}

/** Reads the time that is asked for: instants, or days of the time zone. Without an end it ends now. */
export function readPeriod(query: PeriodQuery, now: number): Period | Failure {
  const { interval } = query;
  const timeZone = zoneOf(query.timeZone);
  if (timeZone === null) return invalid([{ path: '/query/timeZone', message: NO_ZONE }]);
  const to = query.to === undefined ? now : momentOf(query.to, timeZone);
  const from =
    query.from === undefined ? usualFrom(to ?? now, interval, timeZone) : momentOf(query.from, timeZone);
  const details: Detail[] = [];
  if (from === null) details.push({ path: '/query/from', message: NO_MOMENT });
  if (to === null) details.push({ path: '/query/to', message: NO_MOMENT });
  if (from === null || to === null) return invalid(details);
  const first = Math.floor(from / QUARTER_MS) * QUARTER_MS;
  const end = Math.ceil(to / QUARTER_MS) * QUARTER_MS;
  if (first >= end) return invalid([{ path: '/query/to', message: 'Must be later than `from`.' }]);
  const starts = startsOf(first, end, interval, timeZone);
  return starts === null
    ? invalid([{ path: '/query/from', message: TOO_MANY[interval] }])
    : { from: first, to: end, timeZone, starts };
}

const NO_ZONE = 'Must be the IANA name of a time zone, such as UTC or Europe/Vienna.';
const NO_MOMENT =
  'Must be a day such as 2026-11-01, or an ISO 8601 date and time with an offset or Z, in the years 2000 to 2199.';
const TOO_MANY = {
  hour: `Between \`from\` and \`to\` lie more than ${MOST_POINTS} hours: ask for a shorter time, or for \`interval=day\`.`,
  day: `Between \`from\` and \`to\` lie more than ${MOST_POINTS} days: ask for a shorter time.`,
};

/** The zone as the time zone database spells it; null where there is none. Bare offsets know no daylight saving. */
function zoneOf(name: string): string | null {
  if (!/^[A-Za-z]/.test(name)) return null;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone;
  } catch {
    return null;
  }
}

const EARLIEST = Date.UTC(2000, 0);
const LATEST = Date.UTC(2200, 0);

function momentOf(text: string, timeZone: string): number | null {
  const at = isDateTime(text) ? Date.parse(text) : firstMomentOf(text, timeZone);
  return at !== null && at >= EARLIEST && at < LATEST ? at : null;
}

/** The first moment of a day. Where the clocks are put forward at midnight it is no midnight. */
function firstMomentOf(day: string, timeZone: string): number | null {
  if (!/^\d{4}-\d\d-\d\d$/.test(day)) return null;
  try {
    return Temporal.PlainDate.from(day).toZonedDateTime(timeZone).epochMilliseconds;
  } catch {
    return null; // There is no such day.
  }
}

const zoned = (at: number, timeZone: string): Temporal.ZonedDateTime =>
  Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(timeZone);

/** The last 24 hours, or 30 days of which the last one is that of `to`. */
function usualFrom(to: number, interval: PeriodQuery['interval'], timeZone: string): number {
  if (interval === 'hour') return to - USUAL_HOURS * HOUR_MS;
  const lastDay = zoned(to - 1, timeZone).startOfDay();
  return lastDay.subtract({ days: USUAL_DAYS - 1 }).startOfDay().epochMilliseconds;
}

/** Where hours and days begin by the clocks of the zone, between the two; null when there are too many. */
function startsOf(
  from: number,
  to: number,
  interval: PeriodQuery['interval'],
  timeZone: string,
): readonly number[] | null {
  const length = interval === 'hour' ? HOUR_MS : DAY_MS;
  // An hour may take 30 minutes longer and a day an hour less, where clocks are changed.
  if (to - from > (MOST_POINTS + 1) * length) return null;
  const starts = interval === 'hour' ? hoursFrom(from, to, timeZone) : daysFrom(from, to, timeZone);
  return starts.length > MOST_POINTS ? null : starts;
}

function daysFrom(from: number, to: number, timeZone: string): number[] {
  const starts = [from];
  for (let day = zoned(from, timeZone).toPlainDate().add({ days: 1 }); ; day = day.add({ days: 1 })) {
    const at = day.toZonedDateTime(timeZone).epochMilliseconds;
    if (at >= to) return starts;
    // A day that a zone left out, as Apia did at the date line, begins when the one after it does.
    if (at !== starts.at(-1)) starts.push(at);
  }
}

/** Every change of every zone falls on a quarter of an hour since 1986. */
function hoursFrom(from: number, to: number, timeZone: string): number[] {
  const starts = [from];
  for (let at = from + QUARTER_MS; at < to; at += QUARTER_MS) {
    const hour = zoned(at, timeZone).round({ smallestUnit: 'hour', roundingMode: 'floor' });
    if (hour.epochMilliseconds === at) starts.push(at);
  }
  return starts;
}

/** The hours (UTC) that do not lie within one point: those in which one begins, or the last one ends. */
export function splitHours({ starts, to }: Period): readonly number[] {
  const split = [...starts, to].filter((at) => at % HOUR_MS !== 0);
  return [...new Set(split.map((at) => at - (at % HOUR_MS)))];
}
