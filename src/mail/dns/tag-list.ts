/**
 * Reads `tag=value; tag=value`, the form that DKIM keys (RFC 6376 3.2) and DMARC policies share. White space
 * around and inside values is dropped.
 */
export const readTags = (text: string): ReadonlyMap<string, string> =>
  new Map(
    text
      .split(';')
      .map((part) => part.split('='))
      .filter((pair) => pair.length > 1)
      .map(([name = '', ...value]) => [name.trim().toLowerCase(), value.join('=').replace(/\s/g, '')]),
  );
