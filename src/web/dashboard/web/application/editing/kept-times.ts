import { useSyncExternalStore } from 'react';

/** When what is unsaved was kept (epoch milliseconds); null where it is not. */
interface Times {
  readonly inBrowser: number | null;
  readonly onServer: number | null;
}

/**
 * These times of an edit. They change every second while a person types, and one line of the page shows them.
 */
export class KeptTimes {
  #times: Times = { inBrowser: null, onServer: null };
  readonly #listeners = new Set<() => void>();

  readonly times = (): Times => this.#times;
  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  };

  change(part: Partial<Times>): void {
    this.#times = { ...this.#times, ...part };
    for (const listener of this.#listeners) listener();
  }
}

/** When what was typed was kept, and whether the service has kept it and not the browser alone. */
export function useKeptTimes({ subscribe, times }: KeptTimes) {
  const { inBrowser, onServer } = useSyncExternalStore(subscribe, times);
  return { keptAt: onServer ?? inBrowser, isOnServer: onServer !== null };
}
