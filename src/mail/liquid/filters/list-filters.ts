import { type FilterImplOptions, filters as library } from 'liquidjs';
import { LIQUID_LIMITS } from '../limits.ts';
import { SafeText, textOf } from '../values.ts';

type Handler = Extract<FilterImplOptions, (...given: never[]) => unknown>;
type Self = ThisParameterType<Handler>;

/**
 * The items of a list and of the lists in it, as the original Liquid reads what its filters are given. What
 * is no list is an item.
 */
export function flat(value: unknown): unknown[] {
  if (value === null || value === undefined) return [];
  const items: unknown[] = [];
  const take = (item: unknown): void => {
    // Longer ones are refused once they are weighed.
    if (items.length > LIQUID_LIMITS.items) return;
    if (Array.isArray(item)) for (const each of item) take(each);
    else items.push(item);
  };
  take(value);
  return items;
}

/** A property by its name, or by a path such as `price.amount`. */
function memberOf(item: object, name: string): unknown {
  if (Object.hasOwn(item, name)) return (item as Readonly<Record<string, unknown>>)[name];
  if (!name.includes('.')) return undefined;
  return name
    .split('.')
    .reduce<unknown>(
      (value, step) =>
        typeof value === 'object' && value !== null && Object.hasOwn(value, step)
          ? (value as Readonly<Record<string, unknown>>)[step]
          : undefined,
      item,
    );
}

/** The value of an item by a name: a property, the text that is within a text, or the number that it is. */
function within(item: unknown, property: unknown): unknown {
  if (typeof item === 'number') return item === property ? item : undefined;
  const name = textOf(property);
  if (typeof item === 'string') return item.includes(name) ? name : undefined;
  return typeof item === 'object' && item !== null ? memberOf(item, name) : undefined;
}

/** True where an item has a property, of that value where one is given. */
function matches(item: unknown, [property, expected]: readonly unknown[]): boolean {
  if ((property ?? null) === null) return false;
  const value = within(item, property);
  if ((expected ?? null) === null) return value !== undefined && value !== null && value !== false;
  return value === (expected instanceof SafeText ? expected.text : expected);
}

/** The first of the items of each value that a property has. */
function uniqBy(list: readonly unknown[], property: string): unknown[] {
  const seen = new Set<unknown>();
  return list.filter((item) => {
    const value = within(item, property) ?? null;
    if (seen.has(value)) return false;
    seen.add(value);
    return true;
  });
}

const map = library.map as Handler;
const uniq = library.uniq as Handler;
const compact = library.compact as Handler;

/** The filters of lists that read them as the original Liquid does, with their fewest and most arguments. */
export const LIST_FILTERS: Readonly<
  Record<string, readonly [fewest: number, most: number, handler: Handler]>
> = {
  find: [1, 2, (list, ...wanted) => flat(list).find((item) => matches(item, wanted))],
  find_index: [
    1,
    2,
    (list, ...wanted) => {
      const index = flat(list).findIndex((item) => matches(item, wanted));
      return index === -1 ? undefined : index;
    },
  ],
  has: [1, 2, (list, ...wanted) => flat(list).some((item) => matches(item, wanted))],
  where: [1, 2, (list, ...wanted) => flat(list).filter((item) => matches(item, wanted))],
  reject: [1, 2, (list, ...wanted) => flat(list).filter((item) => !matches(item, wanted))],
  concat: [1, 1, (list, other) => [...flat(list), ...flat(other)]],
  map: [
    1,
    1,
    function (this: Self, list: unknown, property: unknown) {
      return map.call(this, flat(list), property);
    },
  ],
  compact: [
    0,
    1,
    function (this: Self, list: unknown, property?: unknown) {
      if (property === undefined) return compact.call(this, list);
      return flat(list).filter((item) => (within(item, property) ?? null) !== null);
    },
  ],
  uniq: [
    0,
    1,
    function (this: Self, list: unknown, property?: unknown) {
      return property === undefined ? uniq.call(this, list) : uniqBy(flat(list), textOf(property));
    },
  ],
};
