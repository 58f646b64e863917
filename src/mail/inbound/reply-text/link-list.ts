const ENTRY = /^\[\d{1,4}\] \S{1,4000}\s*$/;
const LABEL = /^[^\s\d:-][^:]{0,30}:$/;

/**
 * The line at which the list of links begins that Roundcube and Horde write below the text that they make of
 * html: a label, a rule of the same length, and the addresses of the links, which the text names by their
 * numbers. -1 where a text does not end with one.
 */
export function linkListAt(lines: readonly string[], end: number): number {
  let at = end;
  while (at > 0 && lines[at - 1]?.trim() === '') at--;
  const last = at;
  while (at > 0 && ENTRY.test(lines[at - 1] as string)) at--;
  const label = lines[at - 2]?.trimEnd() ?? '';
  const rule = lines[at - 1]?.trimEnd() ?? '';
  const isNumbered = at < last && lines[at]?.startsWith('[1] ') === true;
  return isNumbered && LABEL.test(label) && rule === '-'.repeat(label.length) ? at - 2 : -1;
}

/** True for a text that names an entry of such a list, so that the text needs it. */
export const namesLink = (text: string): boolean => /\[\d{1,4}\]/.test(text);
