import { startTransition, useEffect, useState } from 'react';

/** A hidden page draws no frames, so a timer takes their place. */
const NO_FRAME_MS = 100;

/**
 * Calls back after the browser has painted the current state. A click shows its small change first; slow work
 * follows that paint. Returns a function that cancels the call.
 */
export function afterPaint(work: () => void): () => void {
  let isDone = false;
  const once = () => {
    if (isDone) return;
    isDone = true;
    clearTimeout(late);
    work();
  };
  // A frame's callbacks run before it is painted; a task that is asked for there runs after it.
  requestAnimationFrame(() => setTimeout(once));
  const late = setTimeout(once, NO_FRAME_MS);
  return () => {
    isDone = true;
    clearTimeout(late);
  };
}

/**
 * The value as it was when the page was last shown; null until then, or the value itself where the first one
 * need not wait. What is drawn from it is drawn in pieces, behind a click's answer.
 */
export function usePainted<Value>(value: Value, isFirstAtOnce = false): Value | null {
  const [painted, setPainted] = useState<{ readonly value: Value } | null>(isFirstAtOnce ? { value } : null);
  const isShown = painted !== null && Object.is(painted.value, value);
  useEffect(() => {
    if (isShown) return;
    return afterPaint(() => startTransition(() => setPainted({ value })));
  }, [isShown, value]);
  return painted === null ? null : painted.value;
}
