import { useEffect, useState, useSyncExternalStore } from 'react';

/** The values of an edit. A component asks for those that it shows, so that a key renders no other one. */
export interface ValueStore<V> {
  readonly subscribe: (listener: () => void) => () => void;
  readonly valuesNow: () => V;
}

/** All values: any change renders again. */
export const useValues = <V>({ subscribe, valuesNow }: ValueStore<V>): V =>
  useSyncExternalStore(subscribe, valuesNow);

/** Something of the values that is equal (`===`) until it changes. */
export const useSelected = <V, Part>(
  { subscribe, valuesNow }: ValueStore<V>,
  select: (values: V) => Part,
): Part => useSyncExternalStore(subscribe, () => select(valuesNow()));

export const useValue = <V, Name extends keyof V>(store: ValueStore<V>, name: Name): V[Name] =>
  useSelected(store, (values) => values[name]);

/**
 * All values once they have not changed for a while; nothing is rendered before. `pause` is asked at each
 * change for the milliseconds from then on; it stays the same function.
 */
export function useSettledValues<V>({ subscribe, valuesNow }: ValueStore<V>, pause: () => number): V {
  const [settled, setSettled] = useState(valuesNow);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let last: V | undefined;
    const follow = () => {
      const values = valuesNow();
      if (values === last) return;
      last = values;
      clearTimeout(timer);
      timer = setTimeout(() => setSettled(() => values), pause());
    };
    // They may have changed since the rendering.
    follow();
    const leave = subscribe(follow);
    return () => {
      clearTimeout(timer);
      leave();
    };
  }, [subscribe, valuesNow, pause]);
  return settled;
}
