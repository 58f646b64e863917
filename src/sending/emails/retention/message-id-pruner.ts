import { untilDone } from '../../../engine/duties/batches.ts';
import type { Duty, DutyDeps } from '../../../engine/duties/duty.ts';

/**
 * A statement that waits longer than its limit is rolled back as a whole, and the next one would find more.
 */
const BATCH = 1_000;

const pruneOf = (
  table: string,
  key: string,
): string => `delete from ${table} where (workspace_id, livemode, ${key}) in (
  select workspace_id, livemode, ${key} from ${table}
  where until <= $1::text::timestamptz order by until limit ${BATCH} for update skip locked
) returning 1 as one`;

const PRUNES = [pruneOf('message_ids', 'message_id'), pruneOf('sent_message_ids', 'key')];

/** Deletes the Message-IDs that are free again, and those that are too old for a reply. */
export const messageIdPruner = ({ database, clock }: DutyDeps): Duty => ({
  name: 'messageIdPruner',
  pattern: '0 47 * * * *',
  goesByAge: true,
  async run(stop) {
    const now = new Date(clock.now()).toISOString();
    for (const prune of PRUNES) await untilDone(database, prune, [now], BATCH, stop);
  },
});
