const ENTRY = /^\[\d{1,4}\] \S{1,4000}\s*$/;
const LABEL = /^[^\s\d:-][^:]{0,30}:$/;

/**
 * The line at which the list of links begins that Roundcube and Horde write below the text that they make of
 * html: a label, a rule of the same length, and the addresses of the links, which the text names by their
 * numbers. -1 where a text does not end with one.
 */
export function linkListAt(line: (at: number) => string, end: number): number {
  let at = end;
  while (at > 0 && line(at - 1).trim() === '') at--;
  const last = at;
  while (at > 0 && ENTRY.test(line(at - 1))) at--;
  if (at === last || at < 2 || !line(at).startsWith('[1] ')) return -1;
  const label = line(at - 2).trimEnd();
  return LABEL.test(label) && line(at - 1).trimEnd() === '-'.repeat(label.length) ? at - 2 : -1;
}

/** True for a text that names an entry of such a list, so that the text needs it. */
export const namesLink = (text: string): boolean => /\[\d{1,4}\]/.test(text);
