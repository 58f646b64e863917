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
export interface Learned {
  readonly value: number;
  /** When it was shown last, epoch milliseconds. */
  readonly at: number;
  /** How long it is kept to from then on before more is tried. */
  readonly holdMs: number;
}

export type LearnedLimits = Readonly<Partial<Record<LimitName, Learned>>>;

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/**
 * How soon more than a limit is tried after it was learned first, and how late after many vain trials: each of them doubles the time. A trial
 * costs one refused command, or one refused connection.
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
export function shown(name: LimitName, before: Learned | undefined, value: number, at: number): Learned {
  const { firstMs, longestMs } = HOLDS[name];
  if (before === undefined) return { value, at, holdMs: firstMs };
  const holdMs = isDue(before, at) ? Math.min(2 * before.holdMs, longestMs) : before.holdMs;
  return { value, at, holdMs };
}

/** True when it is time to try more. */
export const isDue = ({ at, holdMs }: Learned, now: number): boolean => now >= at + holdMs;
