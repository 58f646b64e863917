import { stopDeliveries } from '../modules/webhooks/stop-deliveries.ts';
import type { Duty, DutyDeps } from './schedule.ts';

/** Stops what waits for endpoints that were disabled or deleted, where an instance died before it had. */
export const deliveryStopper = ({ database, clock }: DutyDeps): Duty => ({
  name: 'deliveryStopper',
  pattern: '45 * * * * *',
  run: (stop) => stopDeliveries({ database, clock }, stop),
});
