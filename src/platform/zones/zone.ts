/** The offsets of a zone, one period after the other. */
export interface Zone {
  /** As the database spells it, such as `Europe/Vienna`, or an offset such as `+02:00`. */
  readonly name: string;
  /** The end of each period but the last, in epoch milliseconds. */
  readonly ends: readonly number[];
  /** The offsets of each period from UTC, in milliseconds. */
  readonly offsets: readonly number[];
  /** The name of the time of each period, such as `CET`; digits such as `+03` where it has no name. */
  readonly abbreviations: readonly string[];
}

/** A change of the clocks: what they are ahead of UTC from a moment on. */
export interface ClockChange {
  /** Epoch milliseconds. */
  readonly at: number;
  /** The offset from UTC from then on, in minutes; seconds of former days are left out. */
  readonly offset: number;
  /** `CET`; `+03` where people have no word for it. */
  readonly abbreviation: string;
}

/** A clock in a zone, as the milliseconds at which a clock of UTC would show the same. */
export type LocalTime = number;

/** The calendar repeats after 400 years to the day of the week, and so do the rules for years to come. */
const CYCLE_MS = 146_097 * 86_400_000;
/** Both sources of zones state every change before this moment. */
export const STATED_UNTIL = Date.UTC(2499, 0);

/** The number of whole cycles by which a moment lies behind the stated times. */
const cyclesBehind = (at: number): number =>
  Math.max(0, Math.ceil((at - STATED_UNTIL) / CYCLE_MS)) * CYCLE_MS;

/** The index of the period that a moment lies in. */
export function periodAt({ ends }: Zone, moment: number): number {
  const at = moment - cyclesBehind(moment);
  let [low, high] = [0, ends.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((ends[middle] as number) <= at) low = middle + 1;
    else high = middle;
  }
  return low;
}

const offsetOf = (zone: Zone, period: number): number => zone.offsets[period] ?? 0;

/** The offset of a zone from UTC at a moment, in milliseconds. */
export const offsetIn = (zone: Zone, at: number): number => offsetOf(zone, periodAt(zone, at));

/** No clock is further from UTC than that. */
const FURTHEST_MS = 26 * 3_600_000;

/**
 * The moment at which the clocks of a zone show a time. Of one that comes twice in autumn the first counts.
 * One that the clocks leave out in spring is taken as much later as they leave out, or, `atOnce`, when they
 * do.
 */
export function momentIn(zone: Zone, local: LocalTime, atOnce = false): number {
  const behind = cyclesBehind(local);
  const time = local - behind;
  let period = periodAt(zone, time - FURTHEST_MS);
  for (; period < zone.ends.length; period++) {
    const end = zone.ends[period] as number;
    const at = time - offsetOf(zone, period);
    if (at < end) break;
    // The clocks were never there: they are past it once the next period begins.
    if (time < end + offsetOf(zone, period + 1)) return behind + (atOnce ? end : at);
  }
  return behind + time - offsetOf(zone, period);
}
