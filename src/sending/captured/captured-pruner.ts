import { untilDone } from '../../engine/duties/batches.ts';
import type { Duty } from '../../engine/duties/duty.ts';
import { beginRemoval, RETENTION_BATCH, type RetentionDeps } from '../../engine/duties/retention.ts';
import { lowestIdAt } from '../../platform/db/ids.ts';

const PRUNE = `delete from captured where id in (
  select id from captured where id < $1 order by id limit ${RETENTION_BATCH}
) returning 1 as one`;

/** Deletes captured mail as long after its capture as live data is kept after its sending. */
export const capturedPruner = (deps: RetentionDeps): Duty => ({
  name: 'capturedPruner',
  pattern: '0 47 * * * *',
  goesByAge: true,
  async run(stop) {
    const before = lowestIdAt('cap', await beginRemoval(deps, true));
    await untilDone(deps.database, PRUNE, [before], RETENTION_BATCH, stop);
  },
});
