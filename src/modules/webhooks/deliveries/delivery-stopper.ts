import type { Duty, DutyDeps } from '../../../duties/duty.ts';
import { stopDeliveries } from './stop-pending.ts';

/** Stops what waits for endpoints that were disabled or deleted, where an instance died before it had. */
export const deliveryStopper = ({ database, clock }: DutyDeps): Duty => ({
  name: 'deliveryStopper',
  pattern: '45 * * * * *',
  run: (stop) => stopDeliveries({ database, clock }, stop),
});
