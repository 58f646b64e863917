/** Controls (C0, DEL, C1) but the tab, line and paragraph separators, and halves of characters. */
const CONTROLS = /[[\p{Cc}\p{Zl}\p{Zp}\p{Cs}]--\t]/v;

/**
 * The controls, and characters that are invisible or change the order of their neighbours: zero-width and
 * bidirectional characters, tags, soft hyphens. The two joiners stay, since Persian names and joined emoji
 * need them.
 */
const UNSEEN = /[[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]--\p{Join_Control}]/v;

/**
 * True when the text would break a header line, or could not be stored. A tab is white space there (RFC 5322
 * 2.2).
 */
export const hasControls = (text: string): boolean => CONTROLS.test(text);

/**
 * True when the text could look like another one. It is asked of names that people trust when they see them.
 */
export const hasUnseen = (text: string): boolean => UNSEEN.test(text);

/**
 * Runs of them and of spaces: a pattern of spaces, then them, then spaces, would divide one run in all ways.
 */
const UNSEEN_RUN = /[\s[[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]--\p{Join_Control}]]+/gv;

/**
 * A name for a header and its readers: line breaks and controls become a space, invisible characters go, and
 * so do the spaces around it. Names of people come from forms and spreadsheets, which do not show all
 * characters of a cell.
 */
export const seenName = (text: string): string =>
  hasUnseen(text)
    ? text
        .replace(UNSEEN_RUN, (run) => (!hasUnseen(run) ? run : /\s|\p{Cc}|\p{Z}/u.test(run) ? ' ' : ''))
        .trim()
    : text.trim();
