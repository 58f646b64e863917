import { useRef, useState } from 'react';
import { carryOver, isUnfinished } from './carry-over.ts';
import { type EditNote, type History, historyOf, type KeptDesign, type Step, stepped } from './history.ts';
import { designOf } from './source/blocks.ts';
import { findElement } from './source/place.ts';
import { type SourceTree, writeTree } from './source/tree.ts';

/** Edits of one kind within this time are undone together. */
const TOGETHER_MS = 1_000;

/** The history that was kept of a source; of a source that was changed elsewhere, another one begins. */
function openedAt(source: string, kept: KeptDesign): History {
  kept.isUnfinished = () => isUnfinished(kept);
  const before = kept.history;
  if (before?.source === source) return before;
  const opened = historyOf(source);
  // A source that cannot be shown has no blocks: the earlier ones may come back when it is corrected.
  if (before?.design && !opened.design) return opened;
  if (before) carryOver(kept, before, opened);
  kept.history = opened;
  return opened;
}

/**
 * A source as a design, with its chosen block and its history. The source is the only truth: each edit writes
 * it.
 */
export function useDesign(source: string, kept: KeptDesign, onChange: (source: string) => void) {
  const [history, setHistory] = useState(() => openedAt(source, kept));
  const now = useRef(history);
  const last = useRef({ together: '', at: 0 });
  let shown = history;
  if (history.source !== source && now.current.source !== source) {
    shown = openedAt(source, kept);
    now.current = shown;
    setHistory(shown);
  }
  const put = (next: History) => {
    now.current = next;
    kept.history = next;
    setHistory(next);
  };
  const go = ({ tree, chosen }: Step, past: readonly Step[], future: readonly Step[]) => {
    const written = writeTree(tree);
    const isThere = chosen !== null && findElement(tree, chosen) !== null;
    put({ source: written, tree, design: designOf(tree), chosen: isThere ? chosen : null, past, future });
    if (written !== source) onChange(written);
  };
  return {
    ...shown,
    choose: (chosen: number | null) => {
      if (now.current.chosen !== chosen) put({ ...now.current, chosen });
    },
    edit: (tree: SourceTree, { chosen, together = '' }: EditNote = {}) => {
      const before = now.current;
      if (tree === before.tree) return;
      const at = performance.now();
      const isSame =
        together !== '' && together === last.current.together && at - last.current.at < TOGETHER_MS;
      last.current = { together, at };
      const past = isSame ? before.past : stepped(before);
      go({ tree, chosen: chosen === undefined ? before.chosen : chosen }, past, []);
    },
    undo: () => {
      const { past, future, tree, chosen } = now.current;
      const step = past.at(-1);
      last.current = { together: '', at: 0 };
      if (step) go(step, past.slice(0, -1), [{ tree, chosen }, ...future]);
    },
    redo: () => {
      const { past, future, tree, chosen } = now.current;
      const [step, ...rest] = future;
      if (step) go(step, [...past, { tree, chosen }], rest);
    },
  };
}
