import { type ReactNode, useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { request } from '../../api/requests.ts';
import { useViewer } from '../../api/viewer.tsx';
import { Button } from '../button.tsx';
import { count } from '../display/format.ts';
import { toastProblem } from '../overlays/toast.tsx';
import type { ListResult } from './list-types.ts';
import { allToggled, MOST_SELECTED, type RowsByKey, toggled } from './selected.ts';
import { saveCsv } from './selected-csv.ts';

/** The rows of a list that actions apply to. */
export interface Selection<Item> {
  readonly items: readonly Item[];
  /** The name of a row: "Select ada@example.com". */
  readonly labelOf: (item: Item) => string;
  has(item: Item): boolean;
  toggle(item: Item): void;
  /** Selects all of these, or none where all are selected. */
  toggleAll(items: readonly Item[]): void;
  clear(): void;
}

/** A selection that lasts while the page is shown; another filter keeps it. */
export function useSelection<Item>(
  keyOf: (item: Item) => string,
  labelOf: (item: Item) => string,
): Selection<Item> {
  const [chosen, setChosen] = useState<RowsByKey<Item>>(new Map());
  const has = useCallback((item: Item) => chosen.has(keyOf(item)), [chosen, keyOf]);
  // Every row has it, and only the one whose box has changed is drawn again.
  const toggle = useCallback(
    (item: Item) => setChosen((before) => toggled(before, keyOf(item), item)),
    [keyOf],
  );
  return useMemo(
    () => ({
      items: [...chosen.values()],
      labelOf,
      has,
      toggle,
      toggleAll: (items) =>
        setChosen((before) =>
          allToggled(
            before,
            items.map((item) => [keyOf(item), item]),
          ),
        ),
      clear: () => setChosen(new Map()),
    }),
    [chosen, has, toggle, keyOf, labelOf],
  );
}

/** The lists whose selected rows can be saved as a file. */
type ExportedList = 'contacts' | 'emails' | 'suppressions';

/** The number of selected rows and the actions on them, at the lower edge of the window. */
export const SelectionBar = <Item extends object>({
  selection,
  list,
  children,
}: {
  readonly selection: Selection<Item>;
  /** The list of the rows; their file is named after it. */
  readonly list: ExportedList;
  readonly children: ReactNode;
}) => {
  const { environment } = useViewer();
  const [isSaving, setSaving] = useState(false);
  if (selection.items.length === 0) return null;
  // The audit log has every export: nothing is saved that it does not know of.
  const save = async () => {
    const { items } = selection;
    setSaving(true);
    try {
      await request('POST', `exports/${list}`, { body: { environment, rows: items.length } });
      saveCsv(items, `${list}-${environment}.csv`);
    } catch (error) {
      toastProblem(error);
    } finally {
      setSaving(false);
    }
  };
  return (
    <section
      aria-label="Selected rows"
      className="card sticky bottom-3 z-10 flex flex-wrap items-center gap-2 px-4 py-2 shadow-lg"
    >
      <output className="min-w-0 flex-1 font-medium">{count(selection.items.length)} selected</output>
      {children}
      <Button busy={isSaving} onClick={() => void save()}>
        Export selected
      </Button>
      <Button look="quiet" onClick={selection.clear}>
        Clear selection
      </Button>
    </section>
  );
};

/**
 * Reads the rest of a list, as far as rows can be selected, and selects all of it. A page that is refused
 * ends it, with the reason.
 */
export function useSelectAll<Item>(list: ListResult<Item>, selection: Selection<Item> | undefined) {
  const [isRunning, setRunning] = useState(false);
  /** The refusal that was there at the start. */
  const earlier = useRef<Error | null>(null);
  const { items = [], hasNextPage = false, isFetchingNextPage = false, isFetchNextPageError = false } = list;
  const isWhole = !hasNextPage || items.length >= MOST_SELECTED;
  useEffect(() => {
    if (!isRunning || !selection || isFetchingNextPage) return;
    // Another filter or order was chosen: what is shown is a part of the list before.
    if (list.isPlaceholderData) return setRunning(false);
    if (isFetchNextPageError) {
      if (list.error === earlier.current) return;
      setRunning(false);
      if (!items.every(selection.has)) selection.toggleAll(items);
      return toastProblem(
        new Error(
          `Only the ${count(items.length)} loaded rows are selected: the rest could not be read. ${list.error?.message ?? ''}`,
        ),
      );
    }
    if (!isWhole) return void list.fetchNextPage?.();
    setRunning(false);
    if (!items.every(selection.has)) selection.toggleAll(items);
  }, [isRunning, selection, isFetchingNextPage, isFetchNextPageError, isWhole, list, items]);
  const isOffered = selection && items.length > 0 && !isWhole && items.every(selection.has);
  const start = () => {
    setRunning(true);
    // It is shown until the page that renders the list hears of the next answer.
    earlier.current = list.error;
    void list.fetchNextPage?.();
  };
  return isRunning || isOffered ? { isRunning, start } : null;
}
