import { useSyncExternalStore } from 'react';

/** What the page shows; it stands in the address, so that it can be shared and gone back to. */
export interface Place {
  /** null: all machines. */
  readonly kind: string | null;
  readonly state: string | null;
  readonly id: string | null;
}

const listeners = new Set<() => void>();
let search = location.search;
let place = read();

function read(): Place {
  const parameters = new URLSearchParams(search);
  return { kind: parameters.get('kind'), state: parameters.get('state'), id: parameters.get('id') };
}

function changed(): void {
  search = location.search;
  place = read();
  for (const listener of listeners) listener();
}

window.addEventListener('popstate', changed);

/** Goes there. */
export function go(to: Partial<Place>): void {
  const next = { kind: place.kind, state: null, id: null, ...to };
  const parameters = new URLSearchParams(
    Object.entries(next).filter((pair): pair is [string, string] => pair[1] !== null),
  ).toString();
  history.pushState(null, '', parameters === '' ? location.pathname : `?${parameters}`);
  changed();
}

/** Where the page is. */
export const usePlace = (): Place =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => place,
  );
