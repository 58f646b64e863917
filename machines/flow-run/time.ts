import { zones } from '../../src/platform/zones/zones.ts';
import { type QuietHours, type Wait, type WaitEnd, WEEKDAYS } from './definition.ts';

/**
 * The end of a delay. Minutes and hours pass as they are; a day ends at the same time of the day, be it 23 or
 * 25 hours long. A time that the clock leaves out in spring is taken an hour later, and of one that comes
 * twice in autumn the first counts.
 */
export function delayEnd(at: number, { amount, unit }: Wait, timeZone: string): number {
  if (unit === 'minutes') return at + amount * 60_000;
  if (unit === 'hours') return at + amount * 3_600_000;
  return zones.momentOf(zones.localAt(at, timeZone).add({ [unit]: amount }), timeZone);
}

/** The first such moment after `at`; a fixed one that has passed is now. */
export function untilMoment(at: number, until: WaitEnd, ownZone: string): number {
  if ('at' in until) return Math.max(at, Temporal.Instant.from(until.at).epochMilliseconds);
  const time = Temporal.PlainTime.from(until.time);
  const timeZone = until.timeZone ?? ownZone;
  const today = zones.localAt(at, timeZone).toPlainDate();
  for (let days = 0; ; days++) {
    const day = today.add({ days });
    const isDay = !until.weekdays || until.weekdays.includes(WEEKDAYS[day.dayOfWeek - 1] ?? 'mon');
    const moment = zones.momentOf(day.toPlainDateTime(time), timeZone);
    // Eight days hold every weekday, also where today's time has passed.
    if ((isDay && moment > at) || days > 8) return moment;
  }
}

/**
 * The end of the quiet hours that a moment lies in; null outside of them. Where both ends are one, there are
 * none.
 */
export function quietUntil(
  at: number,
  { from, to, timeZone: given }: QuietHours,
  ownZone: string,
): number | null {
  const [begin, end] = [Temporal.PlainTime.from(from), Temporal.PlainTime.from(to)];
  const timeZone = given ?? ownZone;
  const here = zones.localAt(at, timeZone);
  const now = here.toPlainTime();
  const isAfter = (one: Temporal.PlainTime) => Temporal.PlainTime.compare(now, one) >= 0;
  const overMidnight = Temporal.PlainTime.compare(begin, end) > 0;
  const isQuiet = overMidnight ? isAfter(begin) || !isAfter(end) : isAfter(begin) && !isAfter(end);
  if (!isQuiet) return null;
  const day = here.toPlainDate().add({ days: overMidnight && isAfter(begin) ? 1 : 0 });
  const moment = zones.momentOf(day.toPlainDateTime(end), timeZone);
  // In autumn the end may be an hour back, within the hour that the clocks show twice.
  return moment > at ? moment : null;
}

/** A day of the calendar that comes every year, or once. `value` begins with a day as `2024-02-29`. */
export interface DatedTrigger {
  readonly offsetDays: number;
  readonly time: string;
  readonly repeat: 'yearly' | 'once';
}

/** The day that a date of this year falls on: 29 February is the 28th where the year has none. */
const inYear = (day: Temporal.PlainDate, year: number): Temporal.PlainDate => day.with({ year });

/**
 * The occurrences of a date within (after, upTo]: at most one a year, as the day of the occurrence and its
 * moment. A value that is no day has none.
 */
export function occurrencesOf(
  value: string,
  { offsetDays, time, repeat }: DatedTrigger,
  { after, upTo, timeZone }: { readonly after: number; readonly upTo: number; readonly timeZone: string },
): readonly { readonly day: string; readonly at: number }[] {
  const day = dayOf(value);
  if (!day) return [];
  const years = repeat === 'once' ? [day.year] : yearsAround(after, upTo, offsetDays);
  return years.flatMap((year) => {
    if (year < day.year) return [];
    const falls = inYear(day, year).add({ days: offsetDays });
    const at = zones.momentOf(falls.toPlainDateTime(Temporal.PlainTime.from(time)), timeZone);
    return at > after && at <= upTo ? [{ day: falls.toString(), at }] : [];
  });
}

function dayOf(value: string): Temporal.PlainDate | null {
  if (!/^\d{4}-\d\d-\d\d/.test(value)) return null;
  try {
    return Temporal.PlainDate.from(value.slice(0, 10));
  } catch {
    return null;
  }
}

function yearsAround(after: number, upTo: number, offsetDays: number): readonly number[] {
  const day = 86_400_000;
  const first = new Date(after - (offsetDays + 2) * day).getUTCFullYear();
  const last = new Date(upTo - (offsetDays - 2) * day).getUTCFullYear();
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}
