import type { MjmlNote } from '../../../mail/content/render-mjml.ts';
import { piecesOf } from '../../../mail/liquid/pieces.ts';
import { type Failure, invalid } from '../../../platform/errors/failure.ts';
import { placeAt } from '../../../platform/text/places.ts';
import { type Composed, originOf, placed, placeIn } from '../layers/compose.ts';

/** The most characters of a piece of Liquid that are repeated. */
const LONGEST_TOLD = 80;

/**
 * The message of a problem in html that was made, with the place of its Liquid in the source. Where the
 * source has that Liquid several times, any of them may be meant: the message names it instead.
 */
export function inSource(message: string, html: string, source: string): string {
  const made = placeIn(message);
  if (made === null) return message;
  const { line, column, rest } = made;
  const told = pieceAt(html, line, column);
  const places: number[] = [];
  let at = 0;
  for (const { text, isLiquid } of piecesOf(source)) {
    if (isLiquid && text === told) places.push(at);
    at += text.length;
  }
  const [only] = places;
  if (only !== undefined && places.length === 1) {
    const place = placeAt(source, only);
    return `Line ${place.line}, column ${place.column}: ${rest}`;
  }
  return told === null ? rest : `${told.slice(0, LONGEST_TOLD)}: ${rest}`;
}

/** The piece of Liquid at a place; null for none. */
function pieceAt(html: string, line: number, column: number): string | null {
  let at = 0;
  for (const { text, isLiquid } of piecesOf(html)) {
    if (isLiquid) {
      const place = placeAt(html, at);
      if (place.line === line && place.column === column) return text;
    }
    at += text.length;
  }
  return null;
}

/** MJML as it was composed, and the elements that were put before it. */
export interface FramedMjml {
  readonly mjml: Composed;
  readonly before: string;
  /** True where it has layers. */
  readonly isComposed: boolean;
}

/** A column of the first line, without what was put before the source. */
const withoutFrame = (line: number, column: number, { before }: FramedMjml): number =>
  line === 1 ? Math.max(1, column - before.length) : column;

/** A refusal of MJML, with the places that its author knows. */
export function refusalIn(failure: Failure, framed: FramedMjml): Failure {
  const { details } = failure.extra;
  if (!details) return failure;
  return invalid(
    details.map(({ path, message }) => {
      const place = placeIn(message);
      if (place === null) return { path, message };
      const own = withoutFrame(place.line, place.column, framed);
      const told = `Line ${place.line}, column ${own}: ${place.rest}`;
      return { path, message: framed.isComposed ? placed(told, framed.mjml) : told };
    }),
  );
}

/** A note of MJML with its place in the layer that it is about. */
export function noteIn({ message, line, column }: MjmlNote, framed: FramedMjml): MjmlNote {
  const own = column === null ? null : withoutFrame(line, column, framed);
  if (!framed.isComposed) return { message, line, column: own };
  const origin = originOf(framed.mjml, line, own ?? 1);
  return {
    message: origin.layer === null ? message : `${origin.layer}: ${message}`,
    line: origin.line,
    column: own === null ? null : origin.column,
  };
}
