import { type SQL, sql } from 'drizzle-orm';

/**
 * Folds case only for the letters of the searched text. `lower()` depends on the database's locale: with "C"
 * it does not change an Ä, so that two databases would answer differently. A list of letter pairs means the
 * same everywhere, in memory too.
 */
export interface CaseFolding {
  /** The searched text in lower case. */
  readonly part: string;
  /** Capitals, and their lower-case letters in the same order. */
  readonly capitals: string;
  readonly small: string;
}

/** Letters whose two forms are one character each; a ß, whose capitals are two, is not folded. */
export function caseFolding(text: string): CaseFolding {
  let part = '';
  const pairs = new Map<string, string>();
  for (const character of text) {
    const small = character.toLowerCase();
    const capital = small.toUpperCase();
    const folds =
      small !== capital && oneCharacter(small) && oneCharacter(capital) && capital.toLowerCase() === small;
    part += folds ? small : character;
    if (folds) pairs.set(capital, small);
  }
  return { part, capitals: [...pairs.keys()].join(''), small: [...pairs.values()].join('') };
}

const oneCharacter = (text: string): boolean => [...text].length === 1;

/** An SQL text with those capitals made small. */
export const foldedSql = (text: SQL, { capitals, small }: CaseFolding): SQL =>
  sql`translate(${text}, ${capitals}::text, ${small}::text)`;

/** A function that does the same in memory. */
export function folder({ capitals, small }: CaseFolding): (text: string) => string {
  const letters = [...small];
  const pairs = new Map([...capitals].map((capital, index) => [capital, letters[index] ?? capital]));
  return (text) => Array.from(text, (character) => pairs.get(character) ?? character).join('');
}
