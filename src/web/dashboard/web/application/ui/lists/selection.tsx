import { type ReactNode, useCallback, useEffect, useMemo, useState } from 'react';
import { Button } from '../button.tsx';
import { count } from '../display/format.ts';
import type { ListResult } from './list-types.ts';
import { saveCsv } from './selected-csv.ts';

/** The most rows that are selected at once: each is one request. */
export const MOST_SELECTED = 1_000;

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
  const [chosen, setChosen] = useState<ReadonlyMap<string, Item>>(new Map());
  const has = useCallback((item: Item) => chosen.has(keyOf(item)), [chosen, keyOf]);
  return useMemo(
    () => ({
      items: [...chosen.values()],
      labelOf,
      has,
      toggle: (item) =>
        setChosen((before) => {
          const next = new Map(before);
          if (!next.delete(keyOf(item)) && next.size < MOST_SELECTED) next.set(keyOf(item), item);
          return next;
        }),
      toggleAll: (items) =>
        setChosen((before) =>
          items.every((item) => before.has(keyOf(item)))
            ? new Map()
            : new Map(
                [...before, ...items.map((item) => [keyOf(item), item] as const)].slice(0, MOST_SELECTED),
              ),
        ),
      clear: () => setChosen(new Map()),
    }),
    [chosen, has, keyOf, labelOf],
  );
}

/** The number of selected rows and the actions on them, at the lower edge of the window. */
export const SelectionBar = <Item extends object>({
  selection,
  file,
  children,
}: {
  readonly selection: Selection<Item>;
  /** The name of the file with the selected rows. */
  readonly file: string;
  readonly children: ReactNode;
}) =>
  selection.items.length > 0 && (
    <section
      aria-label="Selected rows"
      className="card sticky bottom-3 z-10 flex flex-wrap items-center gap-2 px-4 py-2 shadow-lg"
    >
      <output className="min-w-0 flex-1 font-medium">{count(selection.items.length)} selected</output>
      {children}
      <Button onClick={() => saveCsv(selection.items, file)}>Export selected</Button>
      <Button look="quiet" onClick={selection.clear}>
        Clear selection
      </Button>
    </section>
  );

/** Reads the rest of a list, as far as rows can be selected, and selects all of it. */
export function useSelectAll<Item>(
  list: Pick<ListResult<Item>, 'items' | 'hasNextPage' | 'isFetchingNextPage' | 'fetchNextPage'>,
  selection: Selection<Item> | undefined,
) {
  const [isRunning, setRunning] = useState(false);
  const { items = [], hasNextPage = false, isFetchingNextPage = false } = list;
  const isWhole = !hasNextPage || items.length >= MOST_SELECTED;
  useEffect(() => {
    if (!isRunning || !selection || isFetchingNextPage) return;
    if (!isWhole) return void list.fetchNextPage?.();
    setRunning(false);
    if (!items.every(selection.has)) selection.toggleAll(items);
  }, [isRunning, selection, isFetchingNextPage, isWhole, list, items]);
  const isOffered = selection && items.length > 0 && hasNextPage && !isWhole && items.every(selection.has);
  return isRunning || isOffered ? { isRunning, start: () => setRunning(true) } : null;
}
