/** The edited members of a resource. */
export type Values = Readonly<Record<string, unknown>>;

/** A value as it is compared. Rows that are edited have numbers as ids, which are of this page alone. */
export const textOf = (value: unknown): string =>
  JSON.stringify(value, (key, each: unknown) =>
    key === 'id' && typeof each === 'number' ? undefined : each,
  ) ?? '';

/** Sources are long texts, which need no other form to be compared. */
const isSame = (one: unknown, other: unknown): boolean =>
  one === other || ((typeof one !== 'string' || typeof other !== 'string') && textOf(one) === textOf(other));

/** The members that are not what they were. */
export const changedIn = <V extends Values>(base: V, values: V): readonly (keyof V & string)[] =>
  Object.keys(values).filter((name) => !isSame(base[name], values[name]));

/** The earlier one of two equal lists, so that nothing is rendered for a list that says the same. */
export const keptList = <Item>(before: readonly Item[], after: readonly Item[]): readonly Item[] =>
  before.length === after.length && before.every((each, index) => each === after[index]) ? before : after;

/** Some members of values. */
export const pick = <V extends Values>(values: V, names: readonly (keyof V & string)[]): Partial<V> =>
  Object.fromEntries(names.map((name) => [name, values[name]])) as Partial<V>;

/** The result of two changes of the same resource. */
export interface MergeResult<V extends Values> {
  readonly values: V;
  /** Members that both have changed, each in another way. `values` has mine. */
  readonly conflicts: readonly (keyof V & string)[];
  /** Members that only they have changed. */
  readonly taken: readonly (keyof V & string)[];
}

/**
 * Both changes of a base together, member by member. `wasChanged` tells whether theirs is another value than
 * the base had.
 */
export function merge<V extends Values>(
  mine: V,
  theirs: V,
  changedByMe: readonly string[],
  wasChanged: (name: string) => boolean,
): MergeResult<V> {
  const conflicts: string[] = [];
  const taken: string[] = [];
  const values: Record<string, unknown> = { ...theirs };
  for (const name of Object.keys(theirs)) {
    const isMine = changedByMe.includes(name);
    if (isMine) values[name] = mine[name];
    if (isSame(mine[name], theirs[name]) || !wasChanged(name)) continue;
    (isMine ? conflicts : taken).push(name);
  }
  return { values: values as V, conflicts, taken };
}

/** A short sum of a value, by which it is known again (FNV-1a, twice over: 64 bits). */
export function sumOf(value: unknown): string {
  const text = textOf(value);
  let [one, two] = [0x811c9dc5, 0x01000193];
  // By places and not by the letters of an iterator, which are an object each: a source has 50,000.
  for (let at = 0; at < text.length; at++) {
    const code = text.codePointAt(at) ?? 0;
    if (code > 0xffff) at++;
    one = Math.imul(one ^ code, 0x01000193);
    two = Math.imul(two ^ (code + 0x9e37), 0x85ebca6b);
  }
  return (one >>> 0).toString(36) + (two >>> 0).toString(36);
}
