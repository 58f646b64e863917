/** The kinds of characters that a guesser has to try all of, once one of them occurs. */
const KINDS = [
  [/[a-z]/, 26],
  [/[A-Z]/, 26],
  [/\d/, 10],
  [/[ -/:-@[-`{-~]/, 33],
  [/[^ -~]/, 100],
] as const;

/** About how many bits a guesser has to find: a character that repeats or follows the one before it is hardly worth one. */
export function bitsOf(password: string): number {
  const pool = KINDS.reduce((sum, [kind, size]) => sum + (kind.test(password) ? size : 0), 0);
  const each = Math.log2(Math.max(pool, 1));
  const seen = new Set<string>();
  let bits = 0;
  let last = 0;
  for (const character of password) {
    const code = character.codePointAt(0) ?? 0;
    const isGuessed = Math.abs(code - last) <= 1;
    bits += isGuessed ? 1 : seen.has(character) ? each / 2 : each;
    seen.add(character);
    last = code;
  }
  return bits;
}
