import { useFilters } from './filters.tsx';

/** The members that a list can be sorted by, `createdAt` among them; with `-` in the opposite direction. */
type SortBy<Key extends string> = Key | `-${Key}` | 'createdAt' | '-createdAt';

/** The order of a list, as its columns show and change it. */
export interface Sorting {
  readonly by: string;
  readonly isDescending: boolean;
  /** Sorts by that member, or in the opposite direction where the list is sorted by it. */
  toggle(by: string): void;
}

/** The order of every list unless another one is chosen. */
const NEWEST_FIRST = '-createdAt';

/**
 * The order of a list, kept in the address beside its filters. `sort` is what the service is asked for;
 * undefined for the newest first. `others` are the members besides the creation time, each with an index of
 * the service.
 */
export function useSort<const Key extends string = never>(...others: readonly Key[]) {
  const { values, set } = useFilters(['sort']);
  const known = ['createdAt', ...others].flatMap((key) => [key, `-${key}`]);
  // Anybody can type another one into the address.
  const order = known.includes(values.sort) ? values.sort : NEWEST_FIRST;
  const isDescending = order.startsWith('-');
  const by = isDescending ? order.slice(1) : order;
  const sorting: Sorting = {
    by,
    isDescending,
    toggle: (wanted) => {
      const next = wanted === by ? !isDescending : wanted === 'createdAt';
      const chosen = `${next ? '-' : ''}${wanted}`;
      set({ sort: chosen === NEWEST_FIRST ? '' : chosen });
    },
  };
  return { query: order === NEWEST_FIRST ? {} : { sort: order as SortBy<Key> }, sorting };
}
