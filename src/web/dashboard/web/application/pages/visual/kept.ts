import { useRef } from 'react';
import { useGuard } from '../../editing/leaving.ts';
import type { KeptDesign } from './history.ts';

/** Keeps the messages of a page by a name, and asks before HTML that is not whole yet is left. */
export function useKeptDesigns(): (name: string) => KeptDesign {
  const kept = useRef(new Map<string, KeptDesign>());
  useGuard({
    isUnsaved: () => [...kept.current.values()].some((each) => each.isUnfinished?.() === true),
    discard: () => kept.current.clear(),
  });
  return (name) => {
    const known = kept.current.get(name) ?? {
      history: null,
      unfinished: new Map<number, string>(),
      orphans: [],
      isUnfinished: null,
    };
    kept.current.set(name, known);
    return known;
  };
}
