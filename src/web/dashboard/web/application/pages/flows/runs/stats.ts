import { type FlowDefinition, waysOf } from '../../../../../../../../machines/flow-run/definition.ts';
import type { FlowStats } from '../../../../../../client/operations.ts';
import { wayId } from '../definition.ts';

/**
 * The number of contacts on each path, by the outcome of its step. Every outcome of a step with a single path
 * counts for that path.
 */
export function wayCounts({ steps }: FlowDefinition, stats: FlowStats): ReadonlyMap<string, number> {
  const counts = new Map([[wayId({ from: null, when: 'default' }), stats.entered]]);
  for (const step of steps) {
    const ways = waysOf(step);
    const own = stats.steps.filter((each) => each.step === step.key && each.outcome !== 'failed');
    for (const when of ways) {
      const taken = own.filter(({ outcome }) =>
        ways.includes(outcome) ? outcome === when : when === 'default',
      );
      counts.set(
        wayId({ from: step.key, when }),
        taken.reduce((sum, { count }) => sum + count, 0),
      );
    }
  }
  return counts;
}
