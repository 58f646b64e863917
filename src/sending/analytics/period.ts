import { isDateTime } from '../../http/request/schema.ts';
import { type Detail, type Failure, invalid, invalidAt } from '../../platform/errors/failure.ts';
import { DAY_MS } from '../../platform/time/clock.ts';
import { NO_ZONE, zones } from '../../platform/zones/zones.ts';

/** The most points of a series. */
export const MOST_POINTS = 400;

const QUARTER_MS = 15 * 60_000;
const HOUR_MS = 60 * 60_000;
/** The length of the period when a query names no beginning. */
const USUAL_DAYS = 30;
const USUAL_HOURS = 24;

/** The requested period, in whole quarters of an hour (epoch milliseconds). */
export interface Period {
  readonly from: number;
  readonly to: number;
  readonly timeZone: string;
  /** The first moment of each interval; the first one is `from`. */
  readonly starts: readonly number[];
}

/** The members of a query that name its period. */
export interface PeriodQuery {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly interval: 'hour' | 'day';
  readonly timeZone: string;
}

/** Reads the requested period: instants, or days of the time zone. Without an end it ends now. */
export function readPeriod(query: PeriodQuery, now: number): Period | Failure {
  const { interval } = query;
  const timeZone = zones.nameOf(query.timeZone);
  if (timeZone === null) return invalidAt('/query/timeZone', NO_ZONE);
  const to = query.to === undefined ? now : momentOf(query.to, timeZone);
  const from =
    query.from === undefined ? usualFrom(to ?? now, interval, timeZone) : momentOf(query.from, timeZone);
  const details: Detail[] = [];
  if (from === null) details.push({ path: '/query/from', message: NO_MOMENT });
  if (to === null) details.push({ path: '/query/to', message: NO_MOMENT });
  if (from === null || to === null) return invalid(details);
  const first = Math.floor(from / QUARTER_MS) * QUARTER_MS;
  const end = Math.ceil(to / QUARTER_MS) * QUARTER_MS;
  if (first >= end) return invalidAt('/query/to', 'Must be later than `from`.');
  const starts = startsOf(first, end, interval, timeZone);
  return starts === null
    ? invalidAt('/query/from', TOO_MANY[interval])
    : { from: first, to: end, timeZone, starts };
}

const NO_MOMENT =
  'Must be a day such as 2026-11-01, or an ISO 8601 date and time with an offset or Z, in the years 2000 to 2199.';
const TOO_MANY = {
  hour: `Between \`from\` and \`to\` lie more than ${MOST_POINTS} hours: use a shorter period, or \`interval=day\`.`,
  day: `Between \`from\` and \`to\` lie more than ${MOST_POINTS} days: use a shorter period.`,
};

const EARLIEST = Date.UTC(2000, 0);
const LATEST = Date.UTC(2200, 0);

function momentOf(text: string, timeZone: string): number | null {
  const at = isDateTime(text) ? Date.parse(text) : firstMomentOf(text, timeZone);
  return at !== null && at >= EARLIEST && at < LATEST ? at : null;
}

function firstMomentOf(day: string, timeZone: string): number | null {
  if (!/^\d{4}-\d\d-\d\d$/.test(day)) return null;
  try {
    return zones.startOfDay(Temporal.PlainDate.from(day), timeZone);
  } catch {
    return null; // There is no such day.
  }
}

const dayOf = (at: number, timeZone: string): Temporal.PlainDate => zones.localAt(at, timeZone).toPlainDate();

/** The last 24 hours, or 30 days of which the last one is that of `to`. */
function usualFrom(to: number, interval: PeriodQuery['interval'], timeZone: string): number {
  if (interval === 'hour') return to - USUAL_HOURS * HOUR_MS;
  return zones.startOfDay(dayOf(to - 1, timeZone).subtract({ days: USUAL_DAYS - 1 }), timeZone);
}

/**
 * The beginnings of hours or days by the clocks of the zone, between the two; null when there are too many.
 */
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
  for (let day = dayOf(from, timeZone).add({ days: 1 }); ; day = day.add({ days: 1 })) {
    const at = zones.startOfDay(day, timeZone);
    if (at >= to) return starts;
    // A day that a zone left out, as Apia did at the date line, begins when the one after it does.
    if (at !== starts.at(-1)) starts.push(at);
  }
}

/** Every zone differs from UTC by whole quarters of an hour, since 1986. */
function hoursFrom(from: number, to: number, timeZone: string): number[] {
  const starts = [from];
  for (let at = from + QUARTER_MS; at < to; at += QUARTER_MS) {
    if ((at + zones.offsetAt(at, timeZone)) % HOUR_MS === 0) starts.push(at);
  }
  return starts;
}

/** The hours (UTC) that do not lie within one point: those in which one begins, or the last one ends. */
export function splitHours({ starts, to }: Period): readonly number[] {
  const split = [...starts, to].filter((at) => at % HOUR_MS !== 0);
  return [...new Set(split.map((at) => at - (at % HOUR_MS)))];
}
