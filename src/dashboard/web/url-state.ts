import { useSyncExternalStore } from 'react';

/** The view that the page shows. The address holds it, so that it can be shared and gone back to. */
export interface UrlState {
  /** null: all machines. */
  readonly kind: string | null;
  readonly state: string | null;
  readonly id: string | null;
}

const listeners = new Set<() => void>();
let search = location.search;
let current = read();

function read(): UrlState {
  const parameters = new URLSearchParams(search);
  return { kind: parameters.get('kind'), state: parameters.get('state'), id: parameters.get('id') };
}

function changed(): void {
  search = location.search;
  current = read();
  for (const listener of listeners) listener();
}

window.addEventListener('popstate', changed);

/** Shows something else, with an entry in the history of the browser. */
export function navigate(to: Partial<UrlState>): void {
  const next = { kind: current.kind, state: null, id: null, ...to };
  const parameters = new URLSearchParams(
    Object.entries(next).filter((pair): pair is [string, string] => pair[1] !== null),
  ).toString();
  history.pushState(null, '', parameters === '' ? location.pathname : `?${parameters}`);
  changed();
}

/** The view that the page shows now. */
export const useUrlState = (): UrlState =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => current,
  );
