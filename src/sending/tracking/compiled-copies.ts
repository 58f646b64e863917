import { CompiledPart, type EncodedPart, type Piece } from '../../mail/compose/compiled-part.ts';
import { withLineEnds } from '../../mail/compose/fields.ts';
import type { Unsubscribe } from '../../mail/transport/transport.ts';
import type { Purpose } from './api.ts';
import { HELD } from './personal-word.ts';

/** Makes the URL of a link: `target` is what it leads to, and `links` how many are counted in the message. */
export type UrlOf = (purpose: Purpose, path: string, target: string, links: number | undefined) => string;

/** The parts of a copy in their transfer encodings. */
export interface CompiledCopy {
  readonly text: EncodedPart;
  readonly html: EncodedPart;
  readonly unsubscribe: Unsubscribe;
}

/** The rest that copies differ in. */
interface CopyValues {
  /** The text part that was given for the word; null for none. */
  readonly given: string | null;
  readonly urlOf: UrlOf;
  readonly mailto: string | null;
}

/** Makes a copy for a word; null for one with another text part. */
export type CompiledCopies = (word: string, values: CopyValues) => CompiledCopy | null;

interface CopyParts {
  readonly text: string | null;
  readonly html: string | null;
  readonly unsubscribe: Unsubscribe | null;
}

/** Takes the place of a URL until it is known. */
const HELD_URL = `${HELD}u`;
const HELD_PLACE = new RegExp(`${HELD}(?:u(\\d+)_)?`, 'g');

/**
 * Compiles what copies have in common: they are written once with `HELD` in place of their word and of each
 * URL, and then only these are put into them. `given` is the text part with `HELD` in place of the word; null
 * where it is made of the html.
 */
export function compiledCopies(
  write: (urlOf: UrlOf) => CopyParts,
  given: string | null,
): CompiledCopies | null {
  const links: Parameters<UrlOf>[] = [];
  const written = write((...link) => `${HELD_URL}${links.push(link)}_`);
  // A link that leads to another one, such as that to unsubscribe.
  if (links.some(([, , target]) => target.includes(HELD))) return null;
  const leaving = links.findIndex(([purpose]) => purpose === 'unsubscribe');
  const [text, html] = [written.text, written.html].map((part) =>
    part ? CompiledPart.of(piecesOf(withLineEnds(part))) : null,
  );
  if (!text || !html || leaving === -1) return null;
  const around = given?.split(HELD) ?? null;
  return (word, { given: ownGiven, urlOf, mailto }) => {
    if ((around?.join(word) ?? null) !== ownGiven) return null;
    const urls = links.map((link) => urlOf(...link));
    const values = [word, ...urls];
    const [ownText, ownHtml] = [text.fill(values), html.fill(values)];
    return ownText && ownHtml
      ? { text: ownText, html: ownHtml, unsubscribe: { url: urls[leaving] ?? '', mailto } }
      : null;
  };
}

/** The common pieces, and the numbers of the values between them: 0 the word, and then the URLs. */
function piecesOf(text: string): readonly Piece[] {
  const pieces: Piece[] = [];
  let done = 0;
  for (const { 0: place, 1: url, index } of text.matchAll(HELD_PLACE)) {
    pieces.push(text.slice(done, index), url === undefined ? 0 : Number(url));
    done = index + place.length;
  }
  pieces.push(text.slice(done));
  return pieces;
}
