import {
  type FlowDefinition,
  type FlowStep,
  WAITS,
  waysOf,
} from '../../../../machines/flow-run/definition.ts';
import type { Detail } from '../../../platform/errors/failure.ts';

/** Lists every problem in the connections of a flow's steps. */
export function graphProblems(definition: FlowDefinition): readonly Detail[] {
  const { steps, entry } = definition;
  if (steps.length === 0) return [{ path: '/steps', message: 'A flow needs at least one step.' }];
  const problems = [...edgeProblems(definition), ...missingEdges(definition)];
  if (!steps.some(({ key }) => key === entry))
    return [...problems, { path: '/entry', message: 'Set the first step.' }];
  return [...problems, ...unreachable(definition), ...loops(definition)];
}

function edgeProblems({ steps, edges }: FlowDefinition): readonly Detail[] {
  const byKey = new Map(steps.map((step) => [step.key, step]));
  const taken = new Set<string>();
  return edges.flatMap(({ from, to, when }, index) => {
    const path = `/edges/${index}`;
    const problems: Detail[] = [];
    const step = byKey.get(from);
    if (!step) problems.push({ path: `${path}/from`, message: 'There is no such step.' });
    if (!byKey.has(to)) problems.push({ path: `${path}/to`, message: 'There is no such step.' });
    if (step && !waysOf(step).includes(when))
      problems.push({ path: `${path}/when`, message: waysSentence(step) });
    if (taken.has(`${from} ${when}`))
      problems.push({ path, message: 'This step already has an edge for the same case.' });
    taken.add(`${from} ${when}`);
    return problems;
  });
}

const waysSentence = (step: FlowStep): string =>
  step.type === 'exit'
    ? 'A step of the type exit has no edges.'
    : `Must be one of ${waysOf(step).join(', ')} for this step.`;

/** A condition decides between two ways, so that both have to be there. */
function missingEdges({ steps, edges }: FlowDefinition): readonly Detail[] {
  return steps.flatMap((step, index) =>
    step.type === 'condition'
      ? waysOf(step)
          .filter((way) => !edges.some(({ from, when }) => from === step.key && when === way))
          .map((way) => ({ path: `/steps/${index}`, message: `The edge for "${way}" is missing.` }))
      : [],
  );
}

/** The steps that edges lead to from each step. */
function successors({ edges }: FlowDefinition): (key: string) => readonly string[] {
  const byFrom = Map.groupBy(edges, ({ from }) => from);
  return (key) => byFrom.get(key)?.map(({ to }) => to) ?? [];
}

function unreachable(definition: FlowDefinition): readonly Detail[] {
  const next = successors(definition);
  const reached = new Set<string>();
  const open = [definition.entry ?? ''];
  for (let key = open.pop(); key !== undefined; key = open.pop()) {
    if (reached.has(key)) continue;
    reached.add(key);
    open.push(...next(key));
  }
  return definition.steps.flatMap(({ key }, index) =>
    reached.has(key)
      ? []
      : [{ path: `/steps/${index}`, message: 'No path leads from the first step to this step.' }],
  );
}

/** True where a run always waits: a fixed moment is over at the second visit. */
const rests = (step: FlowStep): boolean =>
  WAITS.has(step.type) && !(step.type === 'delayUntil' && 'at' in step.config);

/** A loop without a wait would run for ever. Each is reported once, at one of its steps. */
function loops(definition: FlowDefinition): readonly Detail[] {
  const next = successors(definition);
  const moving = new Map(
    definition.steps.flatMap((step, index) => (rests(step) ? [] : [[step.key, index] as const])),
  );
  const done = new Set<string>();
  const path = new Set<string>();
  const found: Detail[] = [];
  const visit = (key: string): void => {
    const index = moving.get(key);
    if (index === undefined || done.has(key)) return;
    if (path.has(key)) {
      found.push({
        path: `/steps/${index}`,
        message: 'This step is in a loop without a wait: add a delay to the loop.',
      });
      return;
    }
    path.add(key);
    for (const to of next(key)) visit(to);
    path.delete(key);
    done.add(key);
  };
  for (const key of moving.keys()) visit(key);
  return found;
}
