/** The most rows that are selected at once: each is one request. */
export const MOST_SELECTED = 1_000;

/** The selected rows by their keys. */
export type RowsByKey<Item> = ReadonlyMap<string, Item>;

/** Selects a row where there is room for it, or takes it out. */
export function toggled<Item>(before: RowsByKey<Item>, key: string, item: Item): RowsByKey<Item> {
  const next = new Map(before);
  if (!next.delete(key) && next.size < MOST_SELECTED) next.set(key, item);
  return next;
}

/**
 * Selects all of these besides the others, as far as there is room; none at all where all of these are
 * selected.
 */
export function allToggled<Item>(
  before: RowsByKey<Item>,
  rows: readonly (readonly [string, Item])[],
): RowsByKey<Item> {
  if (rows.every(([key]) => before.has(key))) return new Map();
  return new Map([...new Map([...before, ...rows])].slice(0, MOST_SELECTED));
}
