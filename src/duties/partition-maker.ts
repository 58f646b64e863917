import { ensurePartitions } from '../db/partitions.ts';
import type { Duty, DutyDeps } from './duty.ts';

/** Keeps the partitions of the coming days ready, so that no row falls into the default one. */
export const partitionMaker = ({ database, clock }: DutyDeps): Duty => ({
  name: 'partitionMaker',
  pattern: '0 7 * * * *',
  run: (stop) => ensurePartitions(database, clock.now(), stop),
});
