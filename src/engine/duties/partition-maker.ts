import { ensurePartitions } from '../../platform/db/partitions.ts';
import type { Duty, DutyDeps } from './duty.ts';

/** Keeps the partitions of the coming days ready, so that no row falls into the default one. */
export function partitionMaker({ database, clock }: DutyDeps): Duty {
  // A start on an embedded database leaves most of them to this.
  let isWanted = database.kind === 'embedded';
  return {
    name: 'partitionMaker',
    pattern: '0 7 * * * *',
    isWanted: () => isWanted,
    run: (stop) => {
      isWanted = false;
      return ensurePartitions(database, clock.now(), { stop });
    },
  };
}
