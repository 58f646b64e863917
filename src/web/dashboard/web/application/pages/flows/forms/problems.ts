import type { FlowDefinition } from '../../../../../../../../machines/flow-run/definition.ts';

/** A problem as the service tells it, with a pointer into the flow. */
interface Problem {
  readonly path: string;
  readonly message: string;
}

/** The problems by step key; `''` holds those of the trigger and of the whole flow. */
export type ProblemsByStep = ReadonlyMap<string, readonly StepProblem[]>;
export interface StepProblem {
  /** The place inside its settings, such as `timeout/amount`; empty when it is about the step itself. */
  readonly field: string;
  readonly message: string;
}

/**
 * Sorts problems to the steps that they are about. Pointers count places, so they are read with the flow that
 * was looked at, not with what it has become since.
 */
export function problemsByStep(
  { steps, edges }: FlowDefinition,
  problems: readonly Problem[],
): ProblemsByStep {
  const sorted = new Map<string, StepProblem[]>();
  for (const { path, message } of problems) {
    const [first, place = '', ...rest] = path
      .replace(/^\/body/, '')
      .split('/')
      .slice(1);
    const key =
      first === 'steps'
        ? (steps[Number(place)]?.key ?? '')
        : first === 'edges'
          ? (edges[Number(place)]?.from ?? '')
          : '';
    const inside = first === 'steps' ? rest : first === 'edges' ? [] : [first ?? '', place, ...rest];
    const field = inside
      .filter((part) => part !== '')
      .join('/')
      .replace(/^config\/?/, '');
    sorted.set(key, [...(sorted.get(key) ?? []), { field, message }]);
  }
  return sorted;
}

/** Two lots of problems together; what both say is said once. */
export function together(one: ProblemsByStep, other: ProblemsByStep): ProblemsByStep {
  const all = new Map(one);
  for (const [key, problems] of other) {
    const known = all.get(key) ?? [];
    const more = problems.filter(({ message }) => !known.some((each) => each.message === message));
    all.set(key, [...known, ...more]);
  }
  return all;
}
