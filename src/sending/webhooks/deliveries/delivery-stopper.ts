import type { Duty } from '../../../engine/duties/duty.ts';
import { SOME_WAIT, type StoppingDeps, stopDeliveries } from './stop-pending.ts';

/**
 * Stops waiting deliveries of endpoints that were disabled or deleted, where an instance died before it had.
 */
export const deliveryStopper = (deps: StoppingDeps): Duty => ({
  name: 'deliveryStopper',
  pattern: '45 * * * * *',
  asks: () => SOME_WAIT,
  run: (stop) => stopDeliveries(deps, stop),
});
