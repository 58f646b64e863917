/** The limits of a server that is sent to. */
export const LIMIT_NAMES = [
  'connections',
  'mailsPerSession',
  'recipientsPerMail',
  'mailsPerMinute',
  'octetsPerMail',
] as const;

export type LimitName = (typeof LIMIT_NAMES)[number];

/** A limit as the server has shown it. */
export interface LearnedLimit {
  readonly value: number;
  /** When it was shown last, epoch milliseconds. */
  readonly at: number;
  /** The time for which it holds before more is tried. */
  readonly holdMs: number;
  /** True while it is more than the server has shown, to see whether it takes that. */
  readonly isTrial?: true;
}

/** A limit that is over. It is kept, so that what others knew before does not bring the limit back. */
export interface EndedLimit {
  readonly value: null;
  /** When it ended, epoch milliseconds. */
  readonly at: number;
}

export type LearnedLimits = Readonly<Partial<Record<LimitName, LearnedLimit>>>;

/** All that was found out of the limits of a server. A limit without an entry was never met. */
export type LimitRecord = Readonly<Partial<Record<LimitName, LearnedLimit | EndedLimit>>>;

/** The limits that hold. */
export const inForce = (record: LimitRecord): LearnedLimits =>
  Object.fromEntries(
    LIMIT_NAMES.flatMap((name) => {
      const entry = record[name];
      return entry === undefined || entry.value === null ? [] : [[name, entry] as const];
    }),
  );

/**
 * Of two findings about one limit the newer one holds; at the same moment the lower one, so that all
 * instances agree. The statement that stores limits has the same rule.
 */
export function newer<Finding extends LearnedLimit | EndedLimit>(
  one: Finding | undefined,
  other: Finding | undefined,
): Finding | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  if (one.at !== other.at) return one.at > other.at ? one : other;
  return (one.value ?? Number.POSITIVE_INFINITY) <= (other.value ?? Number.POSITIVE_INFINITY) ? one : other;
}

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/**
 * The times after which more than a limit is tried: after it was learned first, and after many failed trials,
 * each of which doubles the time. A trial costs one refused command, or one refused connection.
 */
export const HOLDS: Readonly<Record<LimitName, { readonly firstMs: number; readonly longestMs: number }>> = {
  connections: { firstMs: 5 * SECOND, longestMs: HOUR },
  mailsPerSession: { firstMs: MINUTE, longestMs: HOUR },
  recipientsPerMail: { firstMs: MINUTE, longestMs: HOUR },
  mailsPerMinute: { firstMs: MINUTE, longestMs: HOUR },
  // Each session announces it.
  octetsPerMail: { firstMs: HOUR, longestMs: HOUR },
};

/** The limit as it is known after the server has shown it at that value. */
export function shown(
  name: LimitName,
  before: LearnedLimit | undefined,
  value: number,
  at: number,
): LearnedLimit {
  const { firstMs, longestMs } = HOLDS[name];
  if (before === undefined) return { value, at, holdMs: firstMs };
  const holdMs = isDue(before, at) ? Math.min(2 * before.holdMs, longestMs) : before.holdMs;
  return { value, at, holdMs };
}

/** True when it is time to try more. */
export const isDue = ({ at, holdMs }: LearnedLimit, now: number): boolean => now >= at + holdMs;
