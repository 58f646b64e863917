import type { FlowDefinition, FlowEdge, FlowStep } from '../../machines/flow-run/definition.ts';
import { waysOf } from '../../machines/flow-run/definition.ts';
import { graphProblems } from '../../src/automation/flows/definition/graph.ts';
import { type RandomSource, randomFrom } from '../../src/ops/torture/random.ts';

const FILTER = { field: 'properties.plan', operator: 'eq', value: 'pro' };

/** A step of each type, with settings that need nothing else to be there. */
export const STEP_OF: Readonly<Record<FlowStep['type'], (key: string) => FlowStep>> = {
  sendEmail: (key) => ({ key, type: 'sendEmail', config: { templateId: 'hello' } }),
  delay: (key) => ({ key, type: 'delay', config: { amount: 1, unit: 'days' } }),
  delayUntil: (key) => ({ key, type: 'delayUntil', config: { time: '09:00' } }),
  condition: (key) => ({ key, type: 'condition', config: { filter: FILTER } }),
  branch: (key) => ({ key, type: 'branch', config: { branches: [{ key: 'pro', filter: FILTER }] } }),
  waitForEvent: (key) => ({
    key,
    type: 'waitForEvent',
    config: { name: 'paid', timeout: { amount: 2, unit: 'hours' } },
  }),
  updateContact: (key) => ({ key, type: 'updateContact', config: { properties: { seen: true } } }),
  addToAudience: (key) => ({ key, type: 'addToAudience', config: { audienceId: 'aud_1' } }),
  removeFromAudience: (key) => ({ key, type: 'removeFromAudience', config: { audienceId: 'aud_1' } }),
  webhook: (key) => ({ key, type: 'webhook', config: { url: 'https://example.com/' } }),
  exit: (key) => ({ key, type: 'exit', config: {} }),
};

const TYPES = Object.keys(STEP_OF) as FlowStep['type'][];

/** Flows that may run, put together by chance: of up to nine steps, with loops where something waits. */
export function generatedFlows(count: number, seed = 1): readonly FlowDefinition[] {
  const random = randomFrom(seed);
  const flows: FlowDefinition[] = [];
  while (flows.length < count) {
    const flow = flowBy(random);
    if (graphProblems(flow).length === 0) flows.push(flow);
  }
  return flows;
}

function flowBy(random: RandomSource): FlowDefinition {
  const steps = Array.from({ length: random.between(2, 9) }, (_, index) =>
    STEP_OF[random.pick(TYPES)](`step${index + 1}`),
  );
  const edges: FlowEdge[] = steps.flatMap((step, index) =>
    waysOf(step).flatMap((when) => {
      // Mostly ahead, now and then back, and a few ways lead nowhere.
      const ahead = steps.slice(index + 1);
      const to = random.between(1, 5) === 1 ? random.pick(steps) : (ahead[0] ?? null);
      const isOpen = step.type !== 'condition' && random.between(1, 6) === 1;
      return to && !isOpen ? [{ from: step.key, to: random.pick([to, ...ahead.slice(0, 2)]).key, when }] : [];
    }),
  );
  return {
    trigger: { type: 'manual' },
    entry: 'step1',
    reentry: 'afterExit',
    exitWhen: null,
    quietHours: random.between(1, 3) === 1 ? { from: '22:00', to: '07:00', timeZone: null } : null,
    steps,
    edges,
  };
}

/** One way through a flow: at each step the way that is taken, up to its end. */
export type FlowPath = readonly { readonly step: FlowStep; readonly way: string }[];

/** Every way through a flow that takes no edge twice, at most so many. */
export function pathsOf({ steps, edges, entry }: FlowDefinition, most: number): readonly FlowPath[] {
  const found: FlowPath[] = [];
  const walk = (step: FlowStep | undefined, path: FlowPath, taken: ReadonlySet<FlowEdge>): void => {
    if (found.length >= most) return;
    if (!step) {
      found.push(path);
      return;
    }
    if (step.type === 'exit') {
      found.push([...path, { step, way: 'exit' }]);
      return;
    }
    for (const way of waysOf(step)) {
      const edge = edges.find(({ from, when }) => from === step.key && when === way);
      if (edge && taken.has(edge)) continue;
      const to = edge && steps.find(({ key }) => key === edge.to);
      walk(to, [...path, { step, way }], edge ? new Set([...taken, edge]) : taken);
    }
  };
  walk(
    steps.find(({ key }) => key === entry),
    [],
    new Set(),
  );
  return found;
}
