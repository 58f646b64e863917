/**
 * The member of an object whose keys people choose; undefined for `constructor` and `toString`, which every
 * object inherits.
 */
export const ownOf = <Value>(object: Readonly<Record<string, Value>>, key: string): Value | undefined =>
  Object.hasOwn(object, key) ? object[key] : undefined;
