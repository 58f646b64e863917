/** A text that is no Liquid, or a tag or output with its braces. */
export interface Piece {
  readonly text: string;
  readonly isLiquid: boolean;
}

const CLOSING = { '{{': '}}', '{%': '%}' } as const;
const OPENING = /\{[{%]/g;

/**
 * Cuts a text at its Liquid. An opening without an end is text, and so are all later ones of its kind: a
 * pattern would search from each of them to the end.
 */
export function piecesOf(source: string): readonly Piece[] {
  const pieces: Piece[] = [];
  const unclosed = new Set<string>();
  let done = 0;
  for (const { 0: opening, index } of source.matchAll(OPENING)) {
    if (index < done || unclosed.has(opening)) continue;
    const end = source.indexOf(CLOSING[opening as keyof typeof CLOSING], index + 2);
    if (end === -1) unclosed.add(opening);
    else {
      if (index > done) pieces.push({ text: source.slice(done, index), isLiquid: false });
      done = end + 2;
      pieces.push({ text: source.slice(index, done), isLiquid: true });
    }
  }
  if (done < source.length) pieces.push({ text: source.slice(done), isLiquid: false });
  return pieces;
}

export const hasLiquid = (source: string): boolean => piecesOf(source).some(({ isLiquid }) => isLiquid);
