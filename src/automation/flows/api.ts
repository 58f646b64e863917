import type { ForgettingHooks } from '../../audience/contacts/commands.ts';
import type { Clocked } from '../../engine/runtime/clocked.ts';

/** The parts of flows that test clocks move. */
export interface FlowsApi extends Pick<ForgettingHooks, 'endRunsOf'> {
  readonly clockedActivity: Clocked;
  readonly clockedDates: Clocked;
  readonly clockedRuns: Clocked;
}
