import { untilDone } from './batches.ts';
import type { Duty, DutyDeps } from './duty.ts';

/** The most rows that one statement removes, so that locks are short. */
const BATCH = 5_000;

const PRUNE = `delete from one_time_tokens where hash in (
  select hash from one_time_tokens where expires_at < $1::text::timestamptz
  order by expires_at limit ${BATCH} for update skip locked
) returning 1 as one`;

/** Removes one-time tokens that have expired, used or not: none of them is accepted any more. */
export const tokenPruner = ({ database, clock }: DutyDeps): Duty => ({
  name: 'tokenPruner',
  pattern: '40 */10 * * * *',
  goesByAge: true,
  async run(stop) {
    const before = new Date(clock.now()).toISOString();
    await untilDone(database, PRUNE, [before], BATCH, stop);
  },
});
