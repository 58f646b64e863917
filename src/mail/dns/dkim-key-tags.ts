/**
 * The tags of a DKIM key besides the key, and the values with which receivers take it for mail that is signed
 * here (RFC 6376 3.6.1).
 */
const TAKEN = new Map<string, (value: string, algorithm: string) => boolean>([
  ['v', (value) => value === 'DKIM1'],
  ['k', (value, algorithm) => value === algorithm],
  ['h', (value) => value.split(':').includes('sha256')],
  ['s', (value) => value.split(':').some((service) => service === '*' || service === 'email')],
]);

/**
 * The part of a DKIM record for which receivers ignore its key; null where they take it. Names and values are
 * in these letters alone, and a name that comes twice spoils the record (RFC 6376 3.2). Verifiers differ: a
 * part counts once one of them refuses it.
 */
export function partNotTaken(record: string, algorithm: string): string | null {
  const names = new Set<string>();
  for (const part of record.split(';')) {
    if (part.trim() === '') continue;
    const [name = '', ...rest] = part.split('=');
    const [tag, value] = [name.trim(), rest.join('=').replace(/\s/g, '')];
    if (rest.length === 0) return `"${tag}"`;
    if (names.has(tag)) return `the second ${tag}=`;
    names.add(tag);
    if (TAKEN.get(tag)?.(value, algorithm) === false) return `${tag}=${value}`;
  }
  if (!names.has('p')) return 'P= (the letter has to be a small one)';
  return names.has('k') || algorithm === 'rsa' ? null : `the missing k=${algorithm}`;
}
