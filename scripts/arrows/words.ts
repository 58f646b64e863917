/** The files whose comments, test titles and pages have no word of the list, but for those that quote it. */
const HOLDS =
  /^(?:src|machines|scripts)\/(?!arrows\/words\.)|^tests\/(?!fixtures\/|bench\/results|unit\/arrows\.)|^docs\/(?!style\.md$|sql\/).*\.md$/;

/** Words in which no subject acts, or that are no longer in use (docs/style.md, rule 6). */
const ARCHAIC =
  /\b(?:nobody|somebody|whoever|anew|(?:is|are) told)\b(?![@'’(]|\.\w)|\b(?:of (?:its|their|his|her) own)(?=$|[^\w\s-]|\s(?:and|in|by|for|to|that|as)\b)/gi;

const COMMENT = /(?:^|\s)\/\/.*$|\/\*\*?.*?\*\/|^\s*\*\s.*$/;
const TITLE = /\b(?:test|describe)\b[\w.]*\(.*?(?<quote>['"`])(?<title>.*)\k<quote>/;

/** The prose of a line: its comment and the title of its test; all of it on a page. */
const proseOf = (path: string, line: string): string =>
  path.endsWith('.md') ? line : [COMMENT.exec(line)?.[0], TITLE.exec(line)?.groups?.title].join(' ');

/** The archaic words of a file, each with its line. */
export const archaicOf = (path: string, text: string): string[] =>
  HOLDS.test(path)
    ? text
        .split('\n')
        .flatMap((line, index) =>
          [...proseOf(path, line).matchAll(ARCHAIC)].map(
            ([word]) => `says "${word}" in line ${index + 1}: name the subject (docs/style.md)`,
          ),
        )
    : [];
