import type { EmailInput } from '../../../../machines/email/context.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/**
 * The timing of an email's attempts. It is copied into the context, so that a change holds for new emails
 * only.
 */
export type AttemptSchedule = Pick<EmailInput, 'leaseMs' | 'patienceMs' | 'backoffMs' | 'holdsDoubt'>;

/** The simulator answers at once; a lost attempt (a crash) is repeated after ten seconds. */
export const SIMULATED_SCHEDULE: AttemptSchedule = {
  leaseMs: 10 * SECOND,
  patienceMs: 72 * HOUR,
  backoffMs: [SECOND, 2 * SECOND],
};

/**
 * A server may take ten minutes to answer after the final dot (RFC 5321 4.5.3.2.6), so an attempt is not lost
 * before. Greylisting passes within the first waits; later retries grow rarer for three days, as RFC 5321
 * 4.5.4.1 advises.
 */
export const LIVE_SCHEDULE: AttemptSchedule = {
  leaseMs: 12 * MINUTE,
  patienceMs: 72 * HOUR,
  backoffMs: [MINUTE, 5 * MINUTE, 15 * MINUTE, 30 * MINUTE, HOUR, 2 * HOUR, 4 * HOUR],
};

/**
 * Test mail whose waits are those of live mail: it has a test clock, or is deferred until its retries run
 * out.
 */
export const SLOW_SIMULATED_SCHEDULE: AttemptSchedule = {
  ...LIVE_SCHEDULE,
  leaseMs: SIMULATED_SCHEDULE.leaseMs,
};

/**
 * The number of attempts before the last one, which comes when patience ends; `atMost` where there are more.
 */
export function mostDeferrals(
  { patienceMs, backoffMs }: Pick<AttemptSchedule, 'patienceMs' | 'backoffMs'>,
  atMost: number,
): number {
  let at = 0;
  let attempts = 0;
  while (at < patienceMs && attempts < atMost) {
    attempts++;
    at += backoffMs[Math.min(attempts, backoffMs.length) - 1] ?? MINUTE;
  }
  return attempts;
}
