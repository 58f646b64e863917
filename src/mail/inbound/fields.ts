/**
 * The fields of a block of `Name: value` lines in a report (RFC 3464 2.1, RFC 5965 3.1). Names are in lower case; the first
 * field of a name counts.
 */
export type Fields = ReadonlyMap<string, string>;

/** Reads the blocks of a report, which are separated by empty lines. */
export const readFields = (text: string): Fields[] =>
  text
    .replace(/\r\n?/g, '\n')
    .split(/\n[ \t]*\n+/)
    .map((block) => readBlock(block.replace(/\n[ \t]+/g, ' ')))
    .filter((fields) => fields.size > 0);

/** Limit of a value: reports are not trusted, and their values are stored with the event. */
const LONGEST_VALUE = 2_000;

const readBlock = (block: string): Fields => {
  const fields = new Map<string, string>();
  for (const line of block.split('\n')) {
    // White space is trimmed afterwards: a pattern for it would be quadratic in its length.
    const [, name, value] = /^([^\s:]+)[ \t]*:(.*)$/.exec(line) ?? [];
    if (name !== undefined && value !== undefined && !fields.has(name.toLowerCase()))
      fields.set(name.toLowerCase(), value.trim().slice(0, LONGEST_VALUE));
  }
  return fields;
};

/**
 * The value of a typed field, `dns; mx.example` or `rfc822;bob@example`, without its type; null when it is absent or
 * empty.
 */
export const typedValue = (fields: Fields | undefined, name: string): string | null => {
  const value = fields?.get(name);
  if (value === undefined) return null;
  // Mimecast has an address of type `rfc/822`.
  return value.replace(/^[\w/-]+[ \t]*;[ \t]*/, '').replace(/^<(.*)>$|^([^<\s]*)>$/, '$1$2') || null;
};
