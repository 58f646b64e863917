import type { ForgettingHooks } from '../../audience/contacts/commands.ts';
import type { ClockedActors } from '../../engine/runtime/clocked.ts';

/** The parts of flows that test clocks move. */
export interface FlowsApi extends Pick<ForgettingHooks, 'endRunsOf'> {
  readonly clockedActivity: ClockedActors;
  readonly clockedDates: ClockedActors;
  readonly clockedRuns: ClockedActors;
}
