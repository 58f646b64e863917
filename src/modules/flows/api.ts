import type { Clocked } from '../../engine/clocked.ts';
import type { ForgettingHooks } from '../contacts/commands.ts';

/** The parts of flows that live by test clocks. */
export interface FlowsApi extends Pick<ForgettingHooks, 'endRunsOf'> {
  readonly clockedActivity: Clocked;
  readonly clockedDates: Clocked;
  readonly clockedRuns: Clocked;
}
