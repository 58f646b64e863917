/**
 * What PostgreSQL can keep of a text that strangers wrote. It refuses NUL anywhere, and half of a surrogate pair in JSON
 * that it unfolds; one of them would make the whole row impossible to store. Both show as U+FFFD, as decoders write it.
 */

const REPLACEMENT = '\uFFFD';

/** The first `max` UTF-16 units of a text, storable; a pair across the limit is left out whole. */
export const storableText = (text: string, max: number): string => {
  const end = /[\uD800-\uDBFF]/.test(text.charAt(max - 1)) ? max - 1 : max;
  return withoutNul(text.slice(0, end).toWellFormed());
};

/** A flat record, each of its texts storable and no longer than `max`. */
export const storableTexts = <EventResult extends object>(record: EventResult, max: number): EventResult =>
  Object.fromEntries(
    Object.entries(record).map(([name, value]) => [
      name,
      typeof value === 'string' ? storableText(value, max) : value,
    ]),
  ) as EventResult;

/** A text on its way to PostgreSQL, which gets U+FFFD for half of a surrogate pair already: that is how UTF-8 is written. */
export const withoutNul = (text: string): string =>
  text.includes('\0') ? text.replaceAll('\0', REPLACEMENT) : text;

/**
 * JSON as JSON.stringify writes it: NUL and half of a surrogate pair always as escapes, in lower case. Whatever follows a
 * backslash is taken along with it, so that a text of a backslash and `u0000` stays what it is.
 */
export const storableJson = (json: string): string =>
  // The search for two characters costs 43 ns a kilobyte, the pattern four times as much.
  json.includes('\\u') && UNSTORABLE.test(json)
    ? json.replace(/\\(?:(u0000|ud[89a-f]..)|.)/g, (escaped, refused) => (refused ? REPLACEMENT : escaped))
    : json;

const UNSTORABLE = /\\u(?:0000|d[89a-f])/;
