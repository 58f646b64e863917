import type { Problem } from '../../../platform/text/problems.ts';

/** Clocks differ and requests travel, so a time this little in the past still means now. */
const GRACE_MS = 60_000;
const FURTHEST_MS = 30 * 24 * 60 * 60 * 1_000;

/**
 * RFC 3339, with seconds optional as in ISO 8601. Date.parse does not serve: it takes dates without an
 * offset, and moves 30 February to March. Leap seconds are refused, since none can be named in advance and
 * clocks here do not have them.
 */
const SHAPE =
  /^(\d{4})-(\d\d)-(\d\d)T([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d)(?:\.(\d{1,9}))?)?(?:Z|([+-])([01]\d|2[0-3]):([0-5]\d))$/;

const NOT_A_TIME: Problem = {
  problem: 'Send an ISO 8601 date and time with an offset or Z, such as 2026-01-31T09:30:00Z.',
};
const TOO_EARLY: Problem = { problem: 'Must not lie in the past.' };
const TOO_LATE: Problem = { problem: 'Must not lie more than 30 days ahead.' };

/**
 * The time to send, in epoch milliseconds and never before `now`; up to a minute in the past counts as now.
 */
export function readScheduledAt(text: string, now: number): number | Problem {
  const at = readMoment(text);
  if (at === null) return NOT_A_TIME;
  if (at < now - GRACE_MS) return TOO_EARLY;
  return at > now + FURTHEST_MS ? TOO_LATE : Math.max(at, now);
}

function readMoment(text: string): number | null {
  const [
    ,
    year,
    month,
    day,
    hour,
    minute,
    second = '0',
    fraction = '',
    sign,
    aheadHours = '0',
    aheadMinutes = '0',
  ] = SHAPE.exec(text) ?? [];
  if (year === undefined) return null;
  const milliseconds = Number(fraction.slice(0, 3).padEnd(3, '0'));
  const local = new Date(0);
  local.setUTCFullYear(Number(year), Number(month) - 1, Number(day));
  if (local.getUTCMonth() !== Number(month) - 1 || local.getUTCDate() !== Number(day)) return null;
  local.setUTCHours(Number(hour), Number(minute), Number(second), milliseconds);
  const ahead = (Number(aheadHours) * 60 + Number(aheadMinutes)) * 60_000;
  return local.getTime() - (sign === '-' ? -ahead : ahead);
}
