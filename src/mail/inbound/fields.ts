/**
 * The fields of a block of `Name: value` lines in a report (RFC 3464 2.1, RFC 5965 3.1). Names are in lower
 * case; the first field of a name counts.
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
 * The value of a typed field, `dns; mx.example` or `smtp; 550 no`, without its type; null when it is absent
 * or empty.
 */
export const typedValue = (fields: Fields | undefined, name: string): string | null =>
  fields?.get(name)?.replace(TYPE, '') || null;

/**
 * The same for an address, `rfc822;bob@example`: without a name, brackets and comments around it. Mimecast
 * has the type `rfc/822`, and XWall writes the type twice.
 */
export const addressValue = (fields: Fields | undefined, name: string): string | null => {
  const value = typedValue(fields, name)?.replace(TYPE, '') ?? '';
  const bare = /<([^<>]{1,1000})>/.exec(value)?.[1] ?? value.replace(/ \([^()]{0,1000}\)$/, '');
  return readUnicode(bare.replace(/>$/, '')) || null;
};

const TYPE = /^[\w/-]+[ \t]*;[ \t]*/;

/** RFC 6533 3: an address beyond ASCII in a report in ASCII has its characters as `\x{FC}`. */
const readUnicode = (address: string): string =>
  address.replace(/\\x\{([0-9A-F]{2,6})\}/gi, (written, hex: string) => {
    const point = Number.parseInt(hex, 16);
    return point > 0x10ffff ? written : String.fromCodePoint(point);
  });
