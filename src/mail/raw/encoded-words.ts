/** Encoded words (RFC 2047) of a header as the parser, postal-mime 4.0.0, reads them right. */
import { isReadByParser, lettersOf } from './charsets.ts';
import { endOfHeader, LARGEST_HEADER } from './header-editor.ts';

const WORD = String.raw`=\?([^?\s]{1,60})\?b\?([^?\s]*)\?=`;
const EACH = new RegExp(WORD, 'gi');
/** Words in base64, next to each other. */
const RUN = new RegExp(String.raw`${WORD}(?:[ \t\r\n]+${WORD})+`, 'gi');
const PADDED = /\?b\?[^?\s]*=\?=[ \t\r\n]+=\?/i;
const WORD_OF_ANY = /=\?([^?*\s]{1,60})(?:\*[^?\s]{0,40})?\?([bq])\?([^?\s]*)\?=/gi;

/**
 * Programs cut a text into pieces of octets and encode each one, so that a letter may begin in one encoded word and end in the next,
 * against RFC 2047 (5). The parser joins such words only where the first has no padding, and shows two replacement characters for the
 * letter elsewhere.
 */
export function withReadableWords(message: Buffer): Buffer {
  const end = Math.min(endOfHeader(message), LARGEST_HEADER);
  const header = message.toString('latin1', 0, end);
  if (!header.includes('=?')) return message;
  const read = (PADDED.test(header) ? header.replace(RUN, joined) : header).replace(WORD_OF_ANY, spelled);
  return read === header ? message : Buffer.concat([Buffer.from(read, 'latin1'), message.subarray(end)]);
}

function joined(run: string): string {
  const words: { readonly charset: string; readonly pieces: Buffer[] }[] = [];
  for (const [, charset = '', text = ''] of run.matchAll(EACH)) {
    const piece = Buffer.from(text, 'base64');
    const last = words.at(-1);
    if (last?.charset.toLowerCase() === charset.toLowerCase()) last.pieces.push(piece);
    else words.push({ charset, pieces: [piece] });
  }
  return words
    .map(({ charset, pieces }) => `=?${charset}?B?${Buffer.concat(pieces).toString('base64')}?=`)
    .join(' ');
}

/** The same word in UTF-8 where the parser does not know its charset. Words that it knows may hold a piece of a letter. */
function spelled(word: string, charset: string, encoding: string, text: string): string {
  if (isReadByParser(charset)) return word;
  const octets = /b/i.test(encoding)
    ? Buffer.from(text, 'base64')
    : Buffer.from(text.replaceAll('_', ' ').replace(CODE, fromCode), 'latin1');
  const letters = lettersOf(octets, charset);
  return letters === null ? word : `=?utf-8?B?${Buffer.from(letters).toString('base64')}?=`;
}

const CODE = /=([\da-f]{2})/gi;
const fromCode = (_: string, code: string): string => String.fromCharCode(Number.parseInt(code, 16));
