/** Repairs of a message for the parser, postal-mime 4.0.0. The octets that are stored and sent stay as they are. */
import { isAscii, isUtf8 } from 'node:buffer';
import PostalMime, { type Email, type PostalMimeOptions } from 'postal-mime';
import { joinedLinesOf, mayBeFlowed } from './flowed.ts';
import { endOfHeader, LARGEST_HEADER, readFields } from './header-editor.ts';
import { type Leaf, openedLeavesOf } from './mime-tree.ts';
import { typedOf, withContentParameter } from './parameters.ts';
import { decodedOf } from './transfer.ts';
import { type Edit, withEdits } from './wire-form.ts';

const WORD = String.raw`=\?([^?\s]{1,60})\?b\?([^?\s]*)\?=`;
const EACH = new RegExp(WORD, 'gi');
/** Words in base64, next to each other. */
const RUN = new RegExp(String.raw`${WORD}(?:[ \t\r\n]+${WORD})+`, 'gi');
const PADDED_BREAK = /=[ \t]+(?=\r?\n)/g;
const CR = 0x0d;
const PADDED = /\?b\?[^?\s]*=\?=[ \t\r\n]+=\?/i;

/** A message in a message is a file: its fields and parts are not those of the one around it. The headers of all parts together are bounded, since the parser reads them all. */
export const PARSER_LIMITS = {
  forceRfc822Attachments: true,
  maxNestingDepth: 50,
  maxHeadersSize: LARGEST_HEADER,
} as const;
/** No server writes reports as deep. */
export const REPORT_LIMITS = { ...PARSER_LIMITS, maxNestingDepth: 20 } as const;

/** The parts of a message; null where the parser cannot read it. */
export async function parseMessage(message: Buffer, limits: PostalMimeOptions): Promise<Email | null> {
  const email = await PostalMime.parse(parsable(message), limits).catch(() => null);
  const isEmpty = email && email.text === undefined && email.html === undefined && !email.attachments.length;
  const text = isEmpty ? textWithoutParts(message) : '';
  return email && text !== '' ? { ...email, text } : email;
}

/** A message as the parser reads it right. */
export const parsable = (message: Buffer): Buffer =>
  withFlowedTexts(withLettersOfUtf8(withSoftBreaks(withJoinedWords(message))));

/**
 * The text of a message that says it has parts, and has no delimiter of them; '' of any other. The parser shows nothing of it. It is asked
 * first, since a delimiter has many forms: a report of a dead address is never taken for a text because of one that is not read here.
 */
function textWithoutParts(message: Buffer): string {
  const header = endOfHeader(message);
  const fields = readFields(message.toString('latin1', 0, Math.min(header, LARGEST_HEADER)));
  const { value, parameters } = typedOf(fields, 'content-type');
  const boundary = parameters.get('boundary');
  if (!value.startsWith('multipart/')) return '';
  if (boundary && message.indexOf(`--${boundary}`, header, 'latin1') !== -1) return '';
  const body = message.subarray(header + (message[header] === CR ? 2 : 1));
  const { value: encoding } = typedOf(fields, 'content-transfer-encoding');
  return decodedOf(body, encoding).toString().replaceAll('\r\n', '\n');
}

const withFlowedTexts = (message: Buffer): Buffer =>
  mayBeFlowed(message) ? withChangedLeaves(message, (leaf) => joinedLinesOf(message, leaf)) : message;

const withChangedLeaves = (message: Buffer, change: (leaf: Leaf) => Edit | null): Buffer =>
  withEdits(
    message,
    openedLeavesOf(message).flatMap((leaf) => change(leaf) ?? []),
  );

/**
 * Programs cut a text into pieces of octets and encode each one, so that a letter may begin in one encoded word and end in the next,
 * against RFC 2047 (5). The parser joins such words only where the first has no padding, and shows two replacement characters for the
 * letter elsewhere.
 */
function withJoinedWords(message: Buffer): Buffer {
  const end = Math.min(endOfHeader(message), LARGEST_HEADER);
  const header = message.toString('latin1', 0, end);
  if (!PADDED.test(header)) return message;
  return Buffer.concat([Buffer.from(header.replace(RUN, joined), 'latin1'), message.subarray(end)]);
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

/**
 * White space at the end of a line was added on the way, also behind the equals sign of a soft line break (RFC 2045 6.7, rule 3). The
 * parser keeps both, and the line end.
 */
function withSoftBreaks(message: Buffer): Buffer {
  // Quoted-printable writes every other equals sign as a code, so few messages are looked at closely.
  if (!message.includes('= ') && !message.includes('=\t')) return message;
  return withChangedLeaves(message, ({ body, end, encoding, type }) => {
    if (!encoding.includes('quoted-printable') || !type.startsWith('text/')) return null;
    const content = message.toString('latin1', body, end).replace(PADDED_BREAK, '=');
    return { start: body, end, octets: Buffer.from(content, 'latin1') };
  });
}

/**
 * Programs write UTF-8 and say US-ASCII, which has no such octets. The parser takes them for Windows-1252, and shows two or three letters
 * for one. Octets that are no UTF-8 stay Windows-1252.
 */
function withLettersOfUtf8(message: Buffer): Buffer {
  // Many messages name no such charset.
  if (!namesAscii(message)) return message;
  return withChangedLeaves(message, ({ start, body, end, encoding, type, charset }) => {
    if (!type.startsWith('text/') || !/^(?:us-)?ascii$/.test(charset)) return null;
    const content = decodedOf(message.subarray(body, end), encoding);
    if (isAscii(content) || !isUtf8(content)) return null;
    const octets = withContentParameter(message.subarray(start, body), 'charset', 'utf-8');
    return octets && { start, end: body, octets };
  });
}

const namesAscii = (message: Buffer): boolean => ['scii', 'SCII'].some((name) => message.includes(name));
