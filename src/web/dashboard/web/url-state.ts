import { useEffect, useRef, useSyncExternalStore } from 'react';
import type { Machine } from '../../live/model.ts';

/** The displayed view. The address holds it, so that it can be shared and restored. */
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
// The application's router announces its navigation under this name.
window.addEventListener('pushState', changed);
window.addEventListener('replaceState', changed);

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

/** The kind that the address names; null for all machines, and for a kind that is not there. */
export function useShownKind(machines: readonly Machine[]): string | null {
  const { kind } = useUrlState();
  return machines.some((machine) => machine.kind === kind) ? kind : null;
}

/**
 * The key 0 shows all machines and 1 to 9 one of them; `more` are further keys. Keys do nothing while a field
 * has the focus.
 */
export function useMachineKeys(
  machines: readonly Machine[],
  more: Readonly<Record<string, () => void>> = {},
): void {
  const acts = useRef(more);
  acts.current = more;
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.metaKey || event.ctrlKey || event.altKey || event.target instanceof HTMLInputElement) return;
      const act = Object.hasOwn(acts.current, event.key) ? acts.current[event.key] : undefined;
      if (act) {
        event.preventDefault();
        act();
      } else if (event.key === '0') navigate({ kind: null });
      else if (/^[1-9]$/.test(event.key))
        navigate({ kind: machines[Number(event.key) - 1]?.kind ?? current.kind });
    };
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  }, [machines]);
}
