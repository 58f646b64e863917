import { type Design, designOf } from './source/blocks.ts';
import { readTree, type SourceTree } from './source/tree.ts';

/** A state of the message that can come back. */
export interface Step {
  readonly tree: SourceTree;
  readonly chosen: number | null;
}

/** A message with the states before and after it. */
export interface History extends Step {
  /** The source of the tree, by which a change from elsewhere is known. */
  readonly source: string;
  readonly design: Design | null;
  readonly past: readonly Step[];
  readonly future: readonly Step[];
}

/** A message while another pane is shown: its history, and HTML that is not whole yet. */
export interface KeptDesign {
  history: History | null;
  /** By the number of its element. */
  readonly unfinished: Map<number, string>;
  /** HTML whose block is gone: it was changed or removed elsewhere. */
  readonly orphans: string[];
  /** Set by the editor, which alone loads what reads messages. */
  isUnfinished: (() => boolean) | null;
}

/** The circumstances of an edit. */
export interface EditNote {
  /** The block that is chosen then. */
  readonly chosen?: number | null;
  /** Edits with the same text in quick succession are one step. */
  readonly together?: string;
}

/** A design that is edited. */
export interface DesignSession extends History {
  readonly design: Design;
  readonly choose: (chosen: number | null) => void;
  readonly edit: (tree: SourceTree, note?: EditNote) => void;
  readonly undo: () => void;
  readonly redo: () => void;
}

/** The edits that can be undone. */
const MOST_STEPS = 200;

/** The states before the next edit: each without those before it, which would be held again. */
export const stepped = ({ past, tree, chosen }: History): readonly Step[] =>
  [...past, { tree, chosen }].slice(-MOST_STEPS);

/** The history of a source that was read just now. */
export const historyOf = (source: string): History => {
  const tree = readTree(source);
  const design = tree && designOf(tree);
  return { source, tree: tree ?? [], design, chosen: null, past: [], future: [] };
};
