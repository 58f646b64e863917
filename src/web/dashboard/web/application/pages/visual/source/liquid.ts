/** The tags of template languages that the service keeps away from MJML, opening and closing. */
const CLOSING: Readonly<Record<string, string>> = { '{{': '}}', '{%': '%}', '${': '}', '%%': '%%' };
const OPENING = /\{\{|\{%|\$\{|%%/g;

/** A stretch of a source, from its first character to the one after its last. */
export interface Stretch {
  readonly start: number;
  readonly end: number;
}

/** The template tags of a source, in their order. */
export function liquidIn(source: string): readonly Stretch[] {
  const tags: Stretch[] = [];
  // An opening without an end is remembered: many of them would each search to the end of the source.
  const unclosed = new Set<string>();
  let from = 0;
  for (const { 0: opening, index } of source.matchAll(OPENING)) {
    if (index < from || unclosed.has(opening)) continue;
    const closing = CLOSING[opening] ?? '';
    const at = source.indexOf(closing, index + opening.length);
    if (at === -1) {
      unclosed.add(opening);
      continue;
    }
    from = at + closing.length;
    tags.push({ start: index, end: from });
  }
  return tags;
}

/** The source with a letter in the place of each character of a template tag, so that all offsets stay. */
export function maskedLiquid(source: string, tags = liquidIn(source)): string {
  let [masked, from] = ['', 0];
  for (const { start, end } of tags) {
    masked += source.slice(from, start) + 'x'.repeat(end - start);
    from = end;
  }
  return masked + source.slice(from);
}

export interface SourcePiece {
  readonly text: string;
  readonly isLiquid: boolean;
}

/** A text in its pieces: template tags, and the texts between them. */
export function piecesOf(text: string): readonly SourcePiece[] {
  const pieces: SourcePiece[] = [];
  let from = 0;
  for (const { start, end } of liquidIn(text)) {
    if (start > from) pieces.push({ text: text.slice(from, start), isLiquid: false });
    pieces.push({ text: text.slice(start, end), isLiquid: true });
    from = end;
  }
  if (from < text.length) pieces.push({ text: text.slice(from), isLiquid: false });
  return pieces;
}
