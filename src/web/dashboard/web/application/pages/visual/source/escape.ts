import { Parser } from 'htmlparser2';
import { piecesOf } from './liquid.ts';

/** A source without tags as a person reads it. Template tags stay. */
export const plainText = (source: string): string =>
  source.includes('&')
    ? piecesOf(source)
        .map(({ text, isLiquid }) => (isLiquid ? text : decoded(text)))
        .join('')
    : source;

/**
 * A text with the characters that its references stand for, read as browsers read the value of an attribute.
 */
function decoded(text: string): string {
  let plain = '';
  const parser = new Parser({
    onattribute: (_, value) => {
      plain = value;
    },
  });
  parser.end(`<a b="${text.replaceAll('"', '&quot;')}">`);
  return plain;
}

/**
 * A text as the content of an element. Characters that would begin a template tag are written as references:
 * without an end of theirs they would take the next end in the source.
 */
export const escapeText = (text: string): string =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('\u00a0', '&nbsp;')
    .replace(/\{(?=[{%])/g, '&#123;')
    .replace(/\$(?=\{)/g, '&#36;')
    .replace(/%(?=%)/g, '&#37;');

/** The same, but template tags in it stay template tags. */
export const escapeWords = (text: string): string =>
  piecesOf(text)
    .map((piece) => (piece.isLiquid ? piece.text : escapeText(piece.text)))
    .join('');

/** The same as the value of an attribute in double quotes. */
export const attributeText = (text: string): string =>
  piecesOf(text)
    .map((piece) => (piece.isLiquid ? piece.text : escapeText(piece.text).replaceAll('"', '&quot;')))
    .join('');
