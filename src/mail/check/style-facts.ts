/** A declaration as it is written, with its place. */
export interface Declaration {
  readonly property: string;
  readonly value: string;
  /** The offset of its first character. */
  readonly at: number;
}

/**
 * The declarations of a style attribute. Those with quotes or functions that hold a semicolon are cut there,
 * which no rule minds.
 */
export function declarations(css: string): Declaration[] {
  const found: Declaration[] = [];
  let at = 0;
  for (const piece of css.split(';')) {
    const colon = piece.indexOf(':');
    if (colon !== -1)
      found.push({
        property: piece.slice(0, colon).trim().toLowerCase(),
        value: piece
          .slice(colon + 1)
          .trim()
          .toLowerCase(),
        at: at + piece.length - piece.trimStart().length,
      });
    at += piece.length + 1;
  }
  return found;
}

const WITHOUT_COMMENT = /\/\*|\*\//g;

/** A style sheet whose comments are blanks, so that its places stay the same. */
export function withoutComments(css: string): string {
  let text = '';
  let done = 0;
  for (const { 0: mark, index } of css.matchAll(WITHOUT_COMMENT)) {
    if (index < done || mark !== '/*') continue;
    const end = css.indexOf('*/', index + 2);
    const after = end === -1 ? css.length : end + 2;
    text += css.slice(done, index) + css.slice(index, after).replace(/[^\n]/g, ' ');
    done = after;
  }
  return text + css.slice(done);
}

/** The declarations of all blocks of a style sheet. */
export function sheetDeclarations(css: string): Declaration[] {
  const found: Declaration[] = [];
  let at = 0;
  for (const piece of withoutComments(css).split(/[{}]/)) {
    // A selector has no colon and value that is a property here, or is none of the properties that are looked
    // for.
    for (const declaration of declarations(piece)) found.push({ ...declaration, at: declaration.at + at });
    at += piece.length + 1;
  }
  return found;
}
