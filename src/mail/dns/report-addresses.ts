/** The report addresses in a DMARC or TLS-RPT record. */

/** The most addresses of a record that are looked at. */
const MOST_ADDRESSES = 10;

/** RFC 9989 4.8: addresses are separated by commas; a size such as `!10m` is a form of RFC 7489 that still occurs. */
const MAILTO = /^mailto:[^@]+@([a-z0-9.-]+?)\.?(?:![0-9]+[kmgt]?)?$/i;

/** The hosts of the `mailto:` addresses of `rua`, each once. */
export const reportHosts = (rua: string): readonly string[] => [
  ...new Set(
    rua
      .split(',')
      .slice(0, MOST_ADDRESSES)
      .flatMap((uri) => MAILTO.exec(uri.trim().split('?')[0] ?? '')?.[1]?.toLowerCase() ?? []),
  ),
];
