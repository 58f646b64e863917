import type { FlowDefinition } from '../../../../../../../../machines/flow-run/definition.ts';
import { wayId } from '../definition.ts';

/** The path that a contact took through the flow. */
export interface RunPath {
  readonly steps: ReadonlySet<string>;
  /** By the ids of ways. */
  readonly ways: ReadonlySet<string>;
  readonly current: string | null;
}

/** The path of a log, up to `until`; all of it by default. */
export function takenBy(
  definition: FlowDefinition,
  log: readonly { readonly step: string; readonly outcome: string }[],
  current: string | null,
  until = log.length,
): RunPath {
  const seen = log.slice(0, until);
  const ways = new Set([wayId({ from: null, when: 'default' })]);
  for (const [index, { step, outcome }] of seen.entries()) {
    const next = log[index + 1]?.step ?? current;
    const out = definition.edges.filter(({ from }) => from === step);
    const way = out.find(({ when }) => when === outcome) ?? out.find(({ to }) => to === next) ?? out[0];
    const when = way?.when ?? 'default';
    if (index < seen.length - 1 || until === log.length) ways.add(wayId({ from: step, when }));
  }
  const steps = new Set([...seen.map(({ step }) => step), ...(current === null ? [] : [current])]);
  return { steps, ways, current };
}
