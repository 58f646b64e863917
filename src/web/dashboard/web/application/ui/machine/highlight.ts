import { createContext } from 'react';
import { linesOfStep } from '../../../../../../engine/drawing/arrows.ts';
import type { Drawing } from '../../../../../../engine/drawing/moves.ts';
import type { ActorLife } from '../../../../../live/model.ts';

/** The path of the open actor on the diagram, as far as the step that is shown. */
export interface Highlight {
  readonly kind: string;
  readonly state: string;
  readonly visited: ReadonlySet<string>;
  readonly taken: ReadonlySet<string>;
  /** The lines of the step itself. */
  readonly current: ReadonlySet<string>;
}

/** The highlight for the diagram's parts; null while no actor is open. */
export const HighlightContext = createContext<Highlight | null>(null);

/** The highlight up to and with the step. */
export function highlightOf(drawing: Drawing, life: ActorLife, step: number): Highlight {
  const past = life.steps.slice(0, step + 1);
  const lines = past.map((one) => linesOfStep(drawing, one));
  return {
    kind: life.kind,
    state: past.at(-1)?.to ?? life.state,
    visited: new Set(past.flatMap(({ from, to }) => (from === null ? [to] : [from, to]))),
    taken: new Set(lines.flat()),
    current: new Set(lines.at(-1) ?? []),
  };
}
