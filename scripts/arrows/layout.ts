/**
 * The spread of a literal: its members or items belong where it is spread. It hides wrong members from the
 * compiler, which checks no spread for members that do not belong there. A computed name has no other form in
 * JSX, and a method makes another list.
 */
const SPREAD_LITERAL =
  /\.\.\.(?:\{(?!\s*\[)|\(?\[(?:[^[\]]|\[[^[\]]*\])*\](?:\s+as const\s*\))?(?=\s*[,)\]}]))/;

const MOST_COLUMNS = 110;
const PROSE = /^\s*(?:\/\/|\/?\*\*?) \S/;
/** Lines that a tool reads, which cannot be broken. */
const DIRECTIVE = /biome-ignore|oxlint|@ts-/;

/** The packing that the code of a file has. */
export const packingOf = (code: string): string[] =>
  SPREAD_LITERAL.test(code) ? ['spreads a literal: write its members or items out, each by itself'] : [];

/** The comments of a file that the formatter does not break, by their lines. */
export const longCommentsOf = (text: string): string[] =>
  text
    .split('\n')
    .flatMap((line, index) =>
      line.length > MOST_COLUMNS && PROSE.test(line) && !DIRECTIVE.test(line)
        ? [`has a comment beyond ${MOST_COLUMNS} columns in line ${index + 1}: break it`]
        : [],
    );
