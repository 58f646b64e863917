import type { Duty } from '../../../engine/duties/duty.ts';
import { type StoppingDeps, stopDeliveries } from './stop-pending.ts';

/**
 * Stops waiting deliveries of endpoints that were disabled or deleted, where an instance died before it had.
 */
export const deliveryStopper = (deps: StoppingDeps): Duty => ({
  name: 'deliveryStopper',
  pattern: '45 * * * * *',
  asks: () => `exists (select from webhook_endpoints where state <> 'active')`,
  run: (stop) => stopDeliveries(deps, stop),
});
