import { REPLY_KEPT_MS } from '../../platform/db/stored-replies.ts';
import { untilDone } from './batches.ts';
import type { Duty, DutyDeps } from './duty.ts';

/**
 * The most rows that one statement removes, so that locks are short and other writers wait for a bounded
 * time.
 */
const BATCH = 5_000;

const pruneStatement = (
  locking: string,
): string => `delete from idempotency_keys where (workspace_id, livemode, key, item) in (
  select workspace_id, livemode, key, item from idempotency_keys
  where created_at < $1::timestamptz order by created_at limit ${BATCH}${locking}
) returning 1 as one`;
const PRUNE = pruneStatement(' for update skip locked');
/** No lock goes over several nodes: of two instances one waits for the other. */
const PRUNE_NODES = pruneStatement('');

/**
 * Removes stored replies whose 24 hours are over. They are not served any more anyway; this frees the disk.
 */
export const replyPruner = ({
  database,
  clock,
  isDistributed = false,
}: DutyDeps & { readonly isDistributed?: boolean }): Duty => ({
  name: 'replyPruner',
  pattern: '30 */10 * * * *',
  goesByAge: true,
  async run(stop) {
    const before = new Date(clock.now() - REPLY_KEPT_MS).toISOString();
    await untilDone(database, isDistributed ? PRUNE_NODES : PRUNE, [before], BATCH, stop);
  },
});
