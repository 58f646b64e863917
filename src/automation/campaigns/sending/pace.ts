const HOUR_MS = 3_600_000;
/** The longest time of one slice of emails. */
const SLICE_MS = 1_000;

/**
 * Emails that are dispatched together, and the time that they take up: no hour then has more than the rate
 * allows.
 */
export interface Pace {
  readonly slice: number;
  readonly everyMs: number;
}

/**
 * Divides an hour evenly: the slices of one hour hold exactly what the rate allows, so that an hour that
 * begins anywhere holds no more. The slice is the largest divisor of the rate that lasts no more than a
 * second and fits into one dispatch: of a larger slice only a part would be dispatched, after a wait for the
 * whole.
 */
export function paceOf(ratePerHour: number, mostAtOnce: number): Pace {
  const most = Math.min(mostAtOnce, Math.max(1, Math.floor((ratePerHour * SLICE_MS) / HOUR_MS)));
  let slice = most;
  while (ratePerHour % slice !== 0) slice--;
  return { slice, everyMs: (slice * HOUR_MS) / ratePerHour };
}
