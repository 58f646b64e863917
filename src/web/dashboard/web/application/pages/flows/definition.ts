import {
  type FlowDefinition,
  type FlowEdge,
  type FlowStep,
  type StepConfigs,
  type StepType,
  waysOf,
} from '../../../../../../../machines/flow-run/definition.ts';
import type { Flow, FlowVersion, UpdateFlow } from '../../../../../client/operations.ts';
import { STEPS } from './words.ts';

// The edits of a flow on its canvas: each returns the changed flow and leaves its argument as it is.

/** The editable parts of a flow or of a version. */
export const definitionOf = ({
  trigger,
  entry,
  reentry,
  exitWhen,
  quietHours,
  steps,
  edges,
}: Flow | FlowVersion): FlowDefinition =>
  ({ trigger, entry, reentry, exitWhen, quietHours, steps, edges }) as unknown as FlowDefinition;

/** The request that writes it. */
export const bodyOf = (definition: FlowDefinition): UpdateFlow => definition as unknown as UpdateFlow;

/** A way out of a step, or into the flow when `from` is null. */
export interface Way {
  readonly from: string | null;
  readonly when: string;
}

/** The id of the trigger in a drawing; no step may have this key. */
export const START = '*';

/** The id of a path in a drawing. */
export const wayId = ({ from, when }: Way): string => `${from ?? START} → ${when}`;

/** The settings of a new step. Required choices are empty, and the service reports them. */
const FIRST: { readonly [Type in StepType]: StepConfigs[Type] } = {
  sendEmail: { templateId: '' },
  delay: { amount: 1, unit: 'days' },
  delayUntil: { time: '09:00' },
  waitForEvent: { name: '', timeout: { amount: 7, unit: 'days' } },
  condition: { filter: { and: [{ field: 'activity.opened', operator: 'exists', value: true }] } },
  branch: {
    branches: [{ key: 'first', filter: { and: [{ field: 'status', operator: 'eq', value: 'subscribed' }] } }],
  },
  updateContact: { properties: {} },
  addToAudience: { audienceId: '' },
  removeFromAudience: { audienceId: '' },
  webhook: { url: '' },
  exit: {},
};

function freeKey({ steps }: FlowDefinition, type: StepType): string {
  const { key } = STEPS[type];
  const isTaken = (name: string) => steps.some((step) => step.key === name);
  let name: string = key;
  for (let number = 2; isTaken(name); number++) name = `${key}${number}`;
  return name;
}

/** Inserts a new step on a path; the path's former target follows the step. */
export function addStep(
  definition: FlowDefinition,
  type: StepType,
  way: Way,
): { readonly definition: FlowDefinition; readonly key: string } {
  const key = freeKey(definition, type);
  const step = { key, type, config: FIRST[type] } as FlowStep;
  const behind = targetOf(definition, way);
  const [first] = waysOf(step);
  const added = { ...definition, steps: [...definition.steps, step] };
  const joined = connect(added, way, key);
  return {
    key,
    definition:
      behind === null || first === undefined ? joined : connect(joined, { from: key, when: first }, behind),
  };
}

/** The target step of a path. */
export const targetOf = ({ entry, edges }: FlowDefinition, { from, when }: Way): string | null =>
  from === null ? entry : (edges.find((edge) => edge.from === from && edge.when === when)?.to ?? null);

/** Connects a path to a step, or to the end. */
export function connect(definition: FlowDefinition, { from, when }: Way, to: string | null): FlowDefinition {
  if (from === null) return { ...definition, entry: to };
  const others = definition.edges.filter((edge) => edge.from !== from || edge.when !== when);
  return { ...definition, edges: to === null ? others : [...others, { from, to, when }] };
}

/** Removes a step. Paths to it lead to its successor. */
export function removeStep(definition: FlowDefinition, key: string): FlowDefinition {
  const step = definition.steps.find((each) => each.key === key);
  const next =
    step === undefined ? undefined : waysOf(step).map((when) => targetOf(definition, { from: key, when }));
  const behind = next?.find((to) => to !== null && to !== key) ?? null;
  return {
    ...definition,
    entry: definition.entry === key ? behind : definition.entry,
    steps: definition.steps.filter((each) => each.key !== key),
    edges: definition.edges.flatMap((edge): readonly FlowEdge[] => {
      if (edge.from === key) return [];
      if (edge.to !== key) return [edge];
      return behind === null || behind === edge.from ? [] : [{ ...edge, to: behind }];
    }),
  };
}

/**
 * Changes the settings of a step. Paths that no longer exist are removed; a renamed branch keeps its path.
 */
export function changeStep(definition: FlowDefinition, changed: FlowStep): FlowDefinition {
  const before = definition.steps.find(({ key }) => key === changed.key);
  const [old, ways] = [before ? waysOf(before) : [], waysOf(changed)];
  const isRename = old.length === ways.length;
  return {
    ...definition,
    steps: definition.steps.map((step) => (step.key === changed.key ? changed : step)),
    edges: definition.edges.flatMap((edge): readonly FlowEdge[] => {
      if (edge.from !== changed.key || ways.includes(edge.when)) return [edge];
      const when = isRename ? ways[old.indexOf(edge.when)] : undefined;
      return when === undefined ? [] : [{ ...edge, when }];
    }),
  };
}

/** Calls a step otherwise. */
export function renameStep(definition: FlowDefinition, before: string, after: string): FlowDefinition {
  const renamed = (key: string) => (key === before ? after : key);
  return {
    ...definition,
    entry: definition.entry === null ? null : renamed(definition.entry),
    steps: definition.steps.map((step) => ({ ...step, key: renamed(step.key) })),
    edges: definition.edges.map(({ from, to, when }) => ({ from: renamed(from), to: renamed(to), when })),
  };
}

/** The difference between a step of one version and the same step of another. */
export type Difference = 'added' | 'changed' | 'removed';

/** The differences in `after`, by the keys of steps. `''` holds everything that is not a step. */
export function differencesOf(
  before: FlowDefinition,
  after: FlowDefinition,
): ReadonlyMap<string, Difference> {
  const differences = new Map<string, Difference>();
  const textOf = ({ steps, edges }: FlowDefinition, key: string) =>
    JSON.stringify([
      steps.find((step) => step.key === key),
      edges.filter(({ from }) => from === key).toSorted((a, b) => (a.when < b.when ? -1 : 1)),
    ]);
  const has = ({ steps }: FlowDefinition, key: string) => steps.some((step) => step.key === key);
  for (const { key } of after.steps)
    if (!has(before, key)) differences.set(key, 'added');
    else if (textOf(before, key) !== textOf(after, key)) differences.set(key, 'changed');
  for (const { key } of before.steps) if (!has(after, key)) differences.set(key, 'removed');
  const rulesOf = ({ steps: _, edges: __, ...rules }: FlowDefinition) => JSON.stringify(rules);
  if (rulesOf(before) !== rulesOf(after)) differences.set('', 'changed');
  return differences;
}
