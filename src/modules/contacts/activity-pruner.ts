import { untilDone } from '../../duties/batches.ts';
import type { Duty, DutyDeps } from '../../duties/duty.ts';
import { KEPT_DAYS } from '../../duties/retention.ts';
import { DAY_MS } from '../../time/clock.ts';

const BATCH = 5_000;

/**
 * What emails have left in the activity of contacts goes when they go. What people did themselves stays with the contact: a consent is
 * proof, and whoever joined an audience is in it. Rows are in the order of time, and a BRIN index tells where the old ones lie.
 */
const PRUNE = `delete from contact_activity where ctid = any(array(
  select ctid from contact_activity
  where at < $1::text::timestamptz and livemode = $2::boolean and email_id is not null limit ${BATCH}
)) returning 1 as one`;

/** Removes what emails have left behind: live mail after ninety days, test mail after seven. */
export const activityPruner = ({ database, clock }: DutyDeps): Duty => ({
  name: 'activityPruner',
  pattern: '10 37 * * * *',
  goesByAge: true,
  async run(stop) {
    for (const [livemode, days] of [
      [true, KEPT_DAYS.live],
      [false, KEPT_DAYS.test],
    ] as const) {
      const before = new Date(clock.now() - days * DAY_MS).toISOString();
      await untilDone(database, PRUNE, [before, livemode], BATCH, stop);
    }
  },
});
