import { useState } from 'react';
import type { FlowDefinition } from '../../../../../../machines/flow-definition.ts';
import type { Flow } from '../../api/operations.ts';
import { definitionOf } from './definition.ts';

/** How far one can go back. */
const MOST_UNDONE = 100;

const textOf = (definition: FlowDefinition): string => JSON.stringify(definition);

/** What is drawn now, and what was before it. */
interface Work {
  readonly draft: FlowDefinition;
  readonly past: readonly FlowDefinition[];
}

/** A flow while it is drawn. What comes from elsewhere is shown if nothing was changed here. */
export function useFlowDraft(flow: Flow) {
  const theirs = definitionOf(flow);
  const [saved, setSaved] = useState(theirs);
  const [{ draft, past }, setWork] = useState<Work>({ draft: theirs, past: [] });
  const [seen, setSeen] = useState(flow.updatedAt);
  const isChanged = textOf(draft) !== textOf(saved);
  if (flow.updatedAt !== seen) {
    setSeen(flow.updatedAt);
    setSaved(theirs);
    if (!isChanged) setWork({ draft: theirs, past });
  }
  return {
    draft,
    saved,
    isChanged,
    set: (next: FlowDefinition) =>
      setWork((before) =>
        textOf(next) === textOf(before.draft)
          ? before
          : { draft: next, past: [...before.past, before.draft].slice(-MOST_UNDONE) },
      ),
    undo: () =>
      setWork((before) => ({ draft: before.past.at(-1) ?? before.draft, past: before.past.slice(0, -1) })),
    canUndo: past.length > 0,
    discard: () => setWork({ draft: saved, past: [] }),
  };
}

/** What is edited of a flow, for the pages that show it. */
export type FlowDraft = ReturnType<typeof useFlowDraft>;
