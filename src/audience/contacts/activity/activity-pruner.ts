import { untilDone } from '../../../engine/duties/batches.ts';
import type { Duty } from '../../../engine/duties/duty.ts';
import { beginRemoval, type RetentionDeps } from '../../../engine/duties/retention.ts';

const BATCH = 5_000;

/**
 * The entries of emails in the activity of contacts are deleted with the emails. The acts of people stay with
 * the contact: a consent is proof, a joined audience keeps its member, and an unsubscription by the link of
 * an email is the person's own, also where the workspace had unsubscribed them before. Rows are in order of
 * time, and a BRIN index finds the old ones.
 */
const PRUNE = `delete from contact_activity where ctid = any(array(
  select ctid from contact_activity
  where at < $1::text::timestamptz and livemode = $2::boolean and email_id is not null
    and not (livemode and type in ('unsubscribed', 'complained')) limit ${BATCH}
)) returning 1 as one`;

/** Removes what emails have left behind, after as many days as they are kept. */
export const activityPruner = (deps: RetentionDeps): Duty => ({
  name: 'activityPruner',
  pattern: '10 37 * * * *',
  goesByAge: true,
  async run(stop) {
    for (const livemode of [true, false]) {
      const before = new Date(await beginRemoval(deps, livemode)).toISOString();
      await untilDone(deps.database, PRUNE, [before, livemode], BATCH, stop);
    }
  },
});
