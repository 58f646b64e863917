import { useCallback, useEffect, useState } from 'react';
import type { LifeStep } from '../../../../../live/model.ts';
import { useKeys } from '../../shell/keys.ts';

/** The displayed step of a life, and whether it plays. */
export interface Playback {
  readonly step: number;
  readonly playing: boolean;
  readonly isLatest: boolean;
  to(step: number): void;
  toggle(): void;
}

const STEP_MS = 900;

/**
 * Steps through a life: with buttons, and where the page has no other keys (`takesKeys`) with ← → Home End
 * and the space bar; at the end it follows the latest step.
 */
export function usePlayback(steps: readonly LifeStep[], takesKeys = true): Playback {
  const last = Math.max(0, steps.length - 1);
  // null: the latest, whichever that is.
  const [chosen, setChosen] = useState<number | null>(null);
  const [playing, setPlaying] = useState(false);
  const step = Math.min(chosen ?? last, last);

  const to = useCallback(
    (next: number) => {
      setPlaying(false);
      setChosen(next >= last ? null : Math.max(0, next));
    },
    [last],
  );
  const toggle = useCallback(() => {
    setPlaying((now) => !now);
    if (!playing && step === last) setChosen(0);
  }, [playing, step, last]);

  useEffect(() => {
    if (!playing) return;
    const timer = window.setTimeout(() => {
      if (step + 1 >= last) setPlaying(false);
      setChosen(step + 1 >= last ? null : step + 1);
    }, STEP_MS);
    return () => window.clearTimeout(timer);
  }, [playing, step, last]);

  const keys: readonly (readonly [string, () => void])[] = [
    ['ArrowLeft', () => to(step - 1)],
    ['ArrowRight', () => to(step + 1)],
    ['Home', () => to(0)],
    ['End', () => to(last)],
    [' ', toggle],
  ];
  useKeys(Object.fromEntries(takesKeys ? keys : []));

  return { step, playing, isLatest: step === last, to, toggle };
}
