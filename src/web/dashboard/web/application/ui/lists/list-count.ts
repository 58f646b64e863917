import { count } from '../display/format.ts';

/** The answer of the count of a list. */
export interface ListCount {
  readonly count: number;
  readonly isExact: boolean;
}

/** The name of one item and of several: `email`, `emails`. */
export type Nouns = readonly [one: string, many: string];

/** The part of a list that has been read. */
interface LoadedItems {
  readonly items: readonly unknown[] | undefined;
  readonly hasNextPage?: boolean;
}

/** The items that a count looks at (`MOST_COUNTED` of the service). */
export const MOST_COUNTED = 10_000;

const exactly = (number: number, [one, many]: Nouns): string =>
  `${count(number)} ${number === 1 ? one : many}`;

/** `1,204 emails`, `more than 10,000 emails`, `at least 50 emails`; null before the list has been read. */
export function countText(
  { items, hasNextPage = false }: LoadedItems,
  counted: ListCount | undefined,
  nouns: Nouns,
): string | null {
  if (items === undefined) return null;
  if (!hasNextPage) return exactly(items.length, nouns);
  // Items may have come since they were counted.
  const known = Math.max(counted?.count ?? 0, items.length);
  if (counted?.isExact === true && known === counted.count) return exactly(known, nouns);
  return `${known >= MOST_COUNTED ? 'more than' : 'at least'} ${exactly(known, nouns)}`;
}
