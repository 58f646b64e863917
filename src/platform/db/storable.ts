/**
 * Makes a text of a stranger storable. PostgreSQL refuses NUL anywhere, and half of a surrogate pair in JSON
 * that it unfolds; one of them would make the whole row impossible to store. Both become U+FFFD, as decoders
 * do it.
 */

const REPLACEMENT = '\uFFFD';

/** Returns the first `max` UTF-16 units of a text, storable; a pair across the limit is left out whole. */
export const storableText = (text: string, max: number): string => {
  const end = /[\uD800-\uDBFF]/.test(text.charAt(max - 1)) ? max - 1 : max;
  return withoutNul(text.slice(0, end).toWellFormed());
};

/** Returns a flat record whose texts are storable and no longer than `max`. */
export const storableTexts = <Fields extends object>(record: Fields, max: number): Fields =>
  Object.fromEntries(
    Object.entries(record).map(([name, value]) => [
      name,
      typeof value === 'string' ? storableText(value, max) : value,
    ]),
  ) as Fields;

/** Makes a parameter storable. Half of a surrogate pair becomes U+FFFD anyway when it is written in UTF-8. */
export const withoutNul = (text: string): string =>
  text.includes('\0') ? text.replaceAll('\0', REPLACEMENT) : text;

/**
 * Makes JSON storable that JSON.stringify wrote: NUL and half of a surrogate pair are always escapes in lower
 * case. The character after a backslash belongs to it, so that a text of a backslash and `u0000` is kept.
 */
export const storableJson = (json: string): string =>
  // The search for two characters takes 43 ns a kilobyte, the pattern four times as long.
  json.includes('\\u') && UNSTORABLE.test(json)
    ? json.replace(/\\(?:(u0000|ud[89a-f]..)|.)/g, (escaped, refused) => (refused ? REPLACEMENT : escaped))
    : json;

const UNSTORABLE = /\\u(?:0000|d[89a-f])/;
