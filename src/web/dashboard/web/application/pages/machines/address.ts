import { useCallback, useMemo } from 'react';
import { useLocation, useSearch } from 'wouter';
import type { Machine } from '../../../../../live/model.ts';

/** The view that the address names, so that it can be shared and restored. */
export interface MachineView {
  /** Null: all machines. */
  readonly kind: string | null;
  readonly state: string | null;
  readonly id: string | null;
}

/** The view of the address, of one of these machines; all machines for a kind that is not there. */
export function useMachineView(machines: readonly Machine[]): MachineView {
  const search = useSearch();
  return useMemo(() => {
    const parameters = new URLSearchParams(search);
    const kind = parameters.get('kind');
    return {
      kind: machines.some((machine) => machine.kind === kind) ? kind : null,
      state: parameters.get('state'),
      id: parameters.get('id'),
    };
  }, [machines, search]);
}

/** Shows another view, with an entry in the history of the browser. */
export function useOpenView(): (view: Partial<MachineView>) => void {
  const [, navigate] = useLocation();
  return useCallback(
    (view) => {
      const named = Object.entries(view).filter((pair): pair is [string, string] => pair[1] !== null);
      navigate(`/machines${named.length === 0 ? '' : `?${new URLSearchParams(named)}`}`);
    },
    [navigate],
  );
}
