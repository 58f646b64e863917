/** The folders whose comments all begin with their subject (docs/style.md, rule 5). */
const HOLDS = /^(?:machines|scripts|src|tests)\//;

/** The first word of a comment that puts a clause in the place of the subject. */
const OPENING =
  /^[ \t]*(?:\/\*\*?\s*\*?|(?<!\/\/[^\n]*\n[ \t]*)\/\/)[ \t]*(What|How|Whether|Who|Whom|Whose|Whoever|Where)\b/gm;

/** The comments of a file that begin with such a word. */
export const openingsOf = (path: string, text: string): string[] =>
  HOLDS.test(path)
    ? [...text.matchAll(OPENING)].map(
        ([, word]) => `begins a comment with "${word}": begin with the subject (docs/style.md)`,
      )
    : [];
