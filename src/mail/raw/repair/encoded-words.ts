/** Encoded words (RFC 2047) of a header as the parser, postal-mime 4.0.0, reads them right. */
import { isUtf8 } from 'node:buffer';
import { addressParser, decodeWords } from 'postal-mime';
import { endOfHeader, LARGEST_HEADER, type RawField, readFields } from '../header-editor.ts';
import { typedOf } from '../parameters.ts';
import { isReadByParser, keepsAscii, mendedLetters, readText, valueReaderOf } from './charsets.ts';

const WORD = String.raw`=\?([^?\s]{1,60})\?b\?([^?\s]*)\?=`;
const EACH = new RegExp(WORD, 'gi');
/** Words in base64, next to each other. */
const RUN = new RegExp(String.raw`${WORD}(?:[ \t\r\n]+${WORD})+`, 'gi');
const PADDED = /\?b\?[^?\s]*=\?=[ \t\r\n]+=\?/i;
/** Words of the one charset with states that the parser knows, next to each other. */
const WITH_STATES = /=\?(iso-2022-jp)\?b\?[^?\s]*\?=(?:[ \t\r\n]+=\?\1\?b\?[^?\s]*\?=)*/gi;
const ESCAPE = '\u001b';
/**
 * The end of a state where the next one begins: the decoder (WHATWG Encoding 12.2.1) takes two escapes in a
 * row for damage.
 */
const EMPTY_STATE = `${ESCAPE}(B${ESCAPE}`;
/** The fields with mailboxes that are shown. */
const MAILBOXES = /^(?:from|sender|reply-to|to|cc)[ \t]*:[^\r\n]*(?:\r?\n[ \t][^\r\n]*)*/gim;
const Q_WORD = /(=\?[^?\s]{1,60}\?q\?)([^?\s]{1,300})\?=/gi;
const WORD_OF_ANY = /=\?([^?*\s]{1,60})(?:\*[^?\s]{0,40})?\?([bq])\?([^?\s]*)\?=/gi;

/**
 * Programs cut a text into pieces of octets and encode each one, so that a letter may begin in one encoded
 * word and end in the next, against RFC 2047 (5). The parser joins such words only where the first has no
 * padding, and shows two replacement characters for the letter elsewhere.
 */
export function withReadableWords(message: Buffer): Buffer {
  const end = Math.min(endOfHeader(message), LARGEST_HEADER);
  const header = message.toString('latin1', 0, end);
  const read = readableWords(withLettersOfUtf8(header));
  return read === header ? message : Buffer.concat([Buffer.from(read, 'latin1'), message.subarray(end)]);
}

/** The header of a message, or of a part, with its encoded words as the parser reads them right. */
export function readableWords(header: string): string {
  if (!header.includes('=?')) return header;
  const names = /\?q\?/i.test(header)
    ? header.replace(MAILBOXES, (field) => withWholeWords(withMailboxes(field)))
    : header;
  const spelledOut = names.replace(WITH_STATES, inOneWord).replace(WORD_OF_ANY, spelled);
  return PADDED.test(spelledOut) ? spelledOut.replace(RUN, joined) : spelledOut;
}

/** A field of nothing but words, with a whole mailbox in them. */
const ONLY_WORDS =
  /^([a-z-]{2,8}[ \t]{0,9}:[ \t]{0,9})((?:=\?[^?\s]{1,60}\?q\?[^?\s]{1,300}\?=(?:\s{1,9}(?==\?)|\s{0,9}$)){1,50})$/i;
/** An address that needs no quotation marks. */
const PLAIN_ADDRESS = /^[\w.!#$%&'*+/=?^`{|}~-]{1,64}@[\w.-]{1,255}$/;

/**
 * Alertmanager encodes the whole value of From and To where a name has an accent, the addresses too, against
 * RFC 2047 (5): the name alone is one word then, where each mailbox that was encoded has a plain address.
 */
function withMailboxes(field: string): string {
  const [, begin = '', words = ''] = ONLY_WORDS.exec(field) ?? [];
  if (!words.includes('@') || !words.includes('<')) return field;
  const value = decodeWords(words);
  const mailboxes = /\p{Cc}/u.test(value) ? [] : addressParser(value);
  if (mailboxes.length === 0) return field;
  if (!mailboxes.every(({ address }) => PLAIN_ADDRESS.test(address ?? ''))) return field;
  const written = mailboxes.map(({ name, address }) => `${name && `${inUtf8Word(name)} `}<${address}>`);
  return `${begin}${written.join(', ')}`;
}

/**
 * Programs leave commas, colons and brackets in the encoded words of a name, against RFC 2047 (5), and the
 * parser takes the word apart there. What may hold an address stays as it is.
 */
const withWholeWords = (field: string): string =>
  field.replace(Q_WORD, (word, begin: string, text: string) =>
    /[@<>"]/.test(text) || !/[,;:()]/.test(text) ? word : `${begin}${withCodes(text)}?=`,
  );

const withCodes = (text: string): string =>
  text
    .replaceAll(',', '=2C')
    .replaceAll(';', '=3B')
    .replaceAll(':', '=3A')
    .replaceAll('(', '=28')
    .replaceAll(')', '=29');

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

/**
 * Words that begin in any state are one text: Exchange ends a word in the middle of a state, others return to
 * ASCII (RFC 1468) and go on.
 */
function inOneWord(run: string, charset: string): string {
  const pieces = [...run.matchAll(EACH)].map(([, , text = '']) =>
    Buffer.from(text, 'base64').toString('latin1'),
  );
  const octets = Buffer.from(pieces.join('').replaceAll(EMPTY_STATE, ESCAPE), 'latin1');
  return inUtf8Word(readText(octets, charset));
}

const inUtf8Word = (letters: string): string => `=?utf-8?B?${Buffer.from(letters).toString('base64')}?=`;

/**
 * The same word in UTF-8 where the parser does not know its charset. Words of others may hold a piece of a
 * letter.
 */
function spelled(word: string, charset: string, encoding: string, text: string): string {
  if (isReadByParser(charset)) return word;
  const letters = mendedLetters(octetsOfWord(encoding, text), charset);
  return letters === null ? word : inUtf8Word(letters);
}

const octetsOfWord = (encoding: string, text: string): Buffer =>
  /b/i.test(encoding)
    ? Buffer.from(text, 'base64')
    : Buffer.from(text.replaceAll('_', ' ').replace(CODE, fromCode), 'latin1');

/**
 * An encoded word, which has at most 75 characters (RFC 2047 2), and the white space that parts two of them.
 */
const SHORT_WORD = /(?<=^|\s|\?=)=\?([^?*\s]{1,60})(?:\*[^?\s]{0,40})?\?([bq])\?([^?\s]{1,75})\?=/gi;
const BETWEEN_WORDS = /(?<=\?=)\s+(?==\?)/g;

/**
 * The value of a field of ids or URLs, where RFC 2047 (5) has no encoded words, without them. Python 3.11
 * writes an id or a URL of 78 characters or more as such, and PHPMailer 6.6 a value of 48 where it sends by
 * PHP's mail(). A value with a word in a charset that is not read stays as it is.
 */
export function spelledOut(value: string): string {
  if (!value.includes('=?')) return value;
  let isRead = true;
  const spelled = value
    .replace(BETWEEN_WORDS, '')
    .replace(SHORT_WORD, (_, charset: string, encoding: string, text: string) => {
      const octets = octetsOfWord(encoding, text);
      isRead &&= keepsAscii(octets, charset);
      return octets.toString('latin1');
    });
  return isRead ? spelled : value;
}

/**
 * A header whose octets are UTF-8. RFC 6532 has no other charset in fields; programs write the one of the
 * text there, or Windows-1252. What is UTF-8 in such a header stays.
 */
function withLettersOfUtf8(header: string): string {
  if (isUtf8(Buffer.from(header, 'latin1'))) return header;
  const fields = readFields(header);
  const readValue = valueReaderOf(typedOf(fields, 'content-type').parameters.get('charset') ?? '');
  const inUtf8 = ({ name, octets }: RawField): string => {
    if (name === '' || isUtf8(Buffer.from(octets, 'latin1'))) return octets;
    const value = octets.indexOf(':') + 1;
    const letters = readValue(octets.slice(value));
    return octets.slice(0, value) + Buffer.from(letters).toString('latin1');
  };
  return fields.map(inUtf8).join('');
}

const CODE = /=([\da-f]{2})/gi;
const fromCode = (_: string, code: string): string => String.fromCharCode(Number.parseInt(code, 16));
