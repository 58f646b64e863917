import { useRef, useState } from 'react';
import type { FlowDefinition } from '../../../../../../../machines/flow-run/definition.ts';
import type { Flow, UpdateFlow } from '../../../../../client/operations.ts';
import { useChange, useRead } from '../../api/queries.ts';
import { useEditing } from '../../editing/use-editing.ts';
import { useValues } from '../../editing/use-values.ts';
import { definitionOf } from './definition.ts';
import { withoutWebhookUrls, withWebhookUrls } from './webhook-urls.ts';

/** The number of changes that undo can take back. */
const MOST_UNDONE = 100;

const textOf = (definition: FlowDefinition): string => JSON.stringify(definition);

/**
 * The edited values of a flow. Steps and the paths between them are one value, because half of each would be
 * another flow.
 */
type FlowValues = Pick<FlowDefinition, 'trigger' | 'reentry' | 'exitWhen' | 'quietHours'> & {
  readonly drawing: Pick<FlowDefinition, 'entry' | 'steps' | 'edges'>;
};

const LABELS: Readonly<Record<keyof FlowValues, string>> = {
  trigger: 'Trigger',
  reentry: 'Re-entry',
  exitWhen: 'Exit when',
  quietHours: 'Quiet hours',
  drawing: 'Steps',
};

const valuesOf = ({ entry, steps, edges, ...rules }: FlowDefinition): FlowValues => ({
  ...rules,
  drawing: { entry, steps, edges },
});
const definitionIn = ({ drawing, ...rules }: FlowValues): FlowDefinition => ({ ...rules, ...drawing });

/** The steps in a form that people can compare, each with its settings and targets. */
function drawingText({ entry, steps, edges }: FlowValues['drawing']): string {
  const waysOf = (key: string) => edges.filter(({ from }) => from === key);
  return [
    `Starts with ${entry ?? 'nothing'}`,
    ...steps.map(({ key, type, config }) =>
      [
        `${key} (${type})`,
        ...Object.entries(config).map(([name, value]) => `  ${name}: ${JSON.stringify(value)}`),
        ...waysOf(key).map(({ when, to }) => `  ${when} → ${to}`),
      ].join('\n'),
    ),
  ].join('\n\n');
}

/** A flow while it is drawn. */
export function useFlowDraft(flow: Flow) {
  const path = { id: flow.id };
  const change = useChange('PATCH /flows/{id}');
  const { refetch } = useRead('GET /flows/{id}', { path });
  const editing = useEditing<Flow, FlowValues>({
    place: `flows/${flow.id}`,
    current: flow,
    labels: LABELS,
    acrossTabs: true,
    keeping: {
      conceal: ({ drawing, ...rest }) => ({
        ...rest,
        ...(drawing && { drawing: { ...drawing, steps: withoutWebhookUrls(drawing.steps) } }),
      }),
      reveal: ({ drawing, ...rest }, { drawing: { steps } }) => ({
        ...rest,
        ...(drawing && { drawing: { ...drawing, steps: withWebhookUrls(drawing.steps, steps) } }),
      }),
    },
    read: (read) => valuesOf(definitionOf(read)),
    write: ({ drawing, ...changed }, ifUpdatedAt) =>
      change.mutateAsync({ path, body: { ...changed, ...drawing, ifUpdatedAt } as unknown as UpdateFlow }),
    reread: async () => (await refetch({ throwOnError: true })).data ?? flow,
    show: (name, value) =>
      name === 'drawing' ? drawingText(value as FlowValues['drawing']) : JSON.stringify(value, null, 2),
  });
  const { base } = editing;
  const values = useValues(editing);
  const draft = useSame(definitionIn(values));
  const saved = useSame(definitionIn(base));
  const [past, setPast] = useState<readonly FlowDefinition[]>([]);
  // An undo in a toast is of a drawing before this one.
  const latest = useRef(draft);
  latest.current = draft;
  return {
    editing,
    draft,
    saved,
    isChanged: editing.isChanged,
    set: (next: FlowDefinition) => {
      const now = latest.current;
      if (textOf(next) === textOf(now)) return;
      setPast((before) => [...before, now].slice(-MOST_UNDONE));
      editing.set(valuesOf(next));
    },
    undo: () => {
      const before = past.at(-1);
      if (!before) return;
      setPast(past.slice(0, -1));
      editing.replace(valuesOf(before));
    },
    canUndo: past.length > 0,
    discard: () => {
      setPast([]);
      editing.discard();
    },
  };
}

/** Keeps the same object while the definition is equal, so that the drawing is not rendered again. */
function useSame(definition: FlowDefinition): FlowDefinition {
  const last = useRef(definition);
  if (textOf(last.current) !== textOf(definition)) last.current = definition;
  return last.current;
}

/** The edited values of a flow, for its pages. */
export type FlowDraft = ReturnType<typeof useFlowDraft>;
