/** The kinds of characters that a guesser has to try all of, once one of them occurs. */
const KINDS = [
  [/[a-z]/, 26],
  [/[A-Z]/, 26],
  [/\d/, 10],
  [/[ -/:-@[-`{-~]/, 33],
  [/[^ -~]/, 100],
] as const;

/** The words that guessers try first. */
const COMMON =
  /password|passwort|qwerty|qwertz|letmein|welcome|iloveyou|admin|dragon|monkey|football|baseball|sunshine|princess/gi;
const BITS_OF_WORD = 6;

/**
 * About how many bits a guesser has to find: a character that repeats or follows the one before it is hardly
 * worth one.
 */
export function bitsOf(password: string): number {
  const pool = KINDS.reduce((sum, [kind, size]) => sum + (kind.test(password) ? size : 0), 0);
  const each = Math.log2(Math.max(pool, 1));
  const seen = new Set<string>();
  // A word that everyone tries is one guess, however long it is.
  const words = password.match(COMMON)?.length ?? 0;
  let bits = words * BITS_OF_WORD;
  let last = 0;
  for (const character of password.replace(COMMON, '')) {
    const code = character.codePointAt(0) ?? 0;
    const isGuessed = Math.abs(code - last) <= 1;
    bits += isGuessed ? 1 : seen.has(character) ? each / 2 : each;
    seen.add(character);
    last = code;
  }
  return bits;
}
