import type { Kind } from '../machine/kind.ts';
import { untilDone } from './batches.ts';
import type { Duty, DutyDeps } from './duty.ts';
import { KEPT_WRITES, RETENTION_BATCH } from './retention.ts';

/**
 * The SQL that cuts long histories: the revision counts the writes. The audit recognises a cut history by its
 * length.
 */
const prune = ({ table, journal }: Kind): string => `delete from ${journal} j using (
  select j.actor_id, j.revision from ${table} a join ${journal} j on j.actor_id = a.id and j.revision <= a.revision - ${KEPT_WRITES}
  where a.revision > ${KEPT_WRITES} limit ${RETENTION_BATCH}
) old where j.actor_id = old.actor_id and j.revision = old.revision returning 1 as one`;

/** Cuts the histories of kinds whose actors never end. */
export const historyPruner = ({ database }: DutyDeps, kinds: readonly Kind[]): Duty => ({
  name: 'historyPruner',
  pattern: '0 57 * * * *',
  async run(stop) {
    for (const kind of kinds) await untilDone(database, prune(kind), [], RETENTION_BATCH, stop);
  },
});
