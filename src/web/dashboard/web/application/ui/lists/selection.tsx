import { type ReactNode, useCallback, useMemo, useState } from 'react';
import { Button } from '../button.tsx';
import { count } from '../display/format.ts';

/** The most rows that are selected at once: each is one request. */
const MOST_SELECTED = 1_000;

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
export const SelectionBar = <Item,>({
  selection,
  children,
}: {
  readonly selection: Selection<Item>;
  readonly children: ReactNode;
}) =>
  selection.items.length > 0 && (
    <section
      aria-label="Selected rows"
      className="card sticky bottom-3 z-10 flex flex-wrap items-center gap-2 px-4 py-2 shadow-lg"
    >
      <output className="min-w-0 flex-1 font-medium">{count(selection.items.length)} selected</output>
      {children}
      <Button look="quiet" onClick={selection.clear}>
        Clear selection
      </Button>
    </section>
  );
