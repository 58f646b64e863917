/**
 * Repairs of a message for the parser, postal-mime 4.0.0. The octets that are stored and sent stay as they
 * are.
 */
import type { Email, PostalMimeOptions } from 'postal-mime';
import { endOfHeader, LARGEST_HEADER, readFields, valueOfField } from '../header-editor.ts';
import { LARGEST_HEADERS, type Leaf, openedLeavesOf, SHOWN, treeOf } from '../mime-tree.ts';
import { mendedType, typedOf, withHeaderFields } from '../parameters.ts';
import { base64Lines, decodedOf, UUENCODED } from '../transfer.ts';
import { type Edit, withEdits } from '../wire-form.ts';
import { BoundedParser, hasFewLines, withFewLines } from './bounded-parser.ts';
import { LARGEST_TEXT, mendedLetters } from './charsets.ts';
import { readableWords, withReadableWords } from './encoded-words.ts';
import { joinedLinesOf, mayBeFlowed } from './flowed.ts';

const PADDED_BREAK = /=[ \t]+(?=\r?\n)/g;
const CR = 0x0d;

/**
 * A message in a message is a file: its fields and parts are not those of the one around it. The headers of
 * all parts together are bounded, since the parser reads them all.
 */
export const PARSER_LIMITS = {
  forceRfc822Attachments: true,
  maxNestingDepth: 50,
  maxHeadersSize: LARGEST_HEADERS,
} as const;
/** No server writes reports as deep. */
export const REPORT_LIMITS = {
  ...PARSER_LIMITS,
  maxNestingDepth: 20,
  maxHeadersSize: LARGEST_HEADER,
} as const;

/** The parts of a message; null where the parser cannot read it. */
export async function parseMessage(message: Buffer, limits: PostalMimeOptions): Promise<Email | null> {
  // The fields of a larger header would be taken apart before the parser refuses it.
  if (endOfHeader(message) > LARGEST_HEADERS) return null;
  const readable = parsable(message);
  if (!hasFewLines(readable)) return null;
  const parsed = await new BoundedParser(limits).parse(readable).catch(() => null);
  const email = parsed && readable !== message ? { ...parsed, headers: asWritten(parsed, message) } : parsed;
  if (email === null) return null;
  // The parser ends lines with LF, but not those of base64.
  if (email.text?.includes('\r\n')) email.text = email.text.replaceAll('\r\n', '\n');
  if (email.html?.includes('\r\n')) email.html = email.html.replaceAll('\r\n', '\n');
  const isEmpty = email.text === undefined && email.html === undefined && !email.attachments.length;
  const text = isEmpty ? textWithoutParts(message) : '';
  return text === '' ? email : { ...email, text };
}

/** The fields of a message that was mended for the parser, as they came. */
function asWritten({ headers }: Email, message: Buffer): Email['headers'] {
  const fields = readFields(message.toString('latin1', 0, Math.min(endOfHeader(message), LARGEST_HEADER)));
  return headers.flatMap((header) => {
    if (!/^content-(?:type|transfer-encoding)$/.test(header.key)) return [header];
    const field = fields.find(({ name }) => name === header.key);
    return field ? [{ ...header, value: valueOfField(field) }] : [];
  });
}

/** A message as the parser reads it right. */
export const parsable = (message: Buffer): Buffer =>
  withFewLines(
    withFlowedTexts(withReadableTexts(withSoftBreaks(withBase64(withTypes(withReadableWords(message)))))),
  );

/** True where nothing has to be mended of a message whose types and charsets are usual. */
export const isParsable = (message: Buffer): boolean =>
  withFlowedTexts(withSoftBreaks(withReadableWords(message))) === message;

/**
 * The text of a message that says it has parts, and has no delimiter of them; '' of any other. The parser
 * shows nothing of it. It is asked first, since a delimiter has many forms: a report of a dead address is
 * never taken for a text because of one that is not read here.
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

/** Parts in uuencode, of which the parser knows nothing, in base64. */
function withBase64(message: Buffer): Buffer {
  if (!message.includes('begin')) return message;
  return withChangedLeaves(message, ({ start, body, end, encoding }) => {
    if (!UUENCODED.test(encoding)) return null;
    const header = withHeaderFields(message.subarray(start, body), { 'Content-Transfer-Encoding': 'base64' });
    const octets = decodedOf(message.subarray(body, end), encoding);
    return { start, end, octets: Buffer.concat([header, base64Lines(octets)]) };
  });
}

const withFlowedTexts = (message: Buffer): Buffer =>
  mayBeFlowed(message) ? withChangedLeaves(message, (leaf) => joinedLinesOf(message, leaf)) : message;

const withChangedLeaves = (message: Buffer, change: (leaf: Leaf) => Edit | null): Buffer =>
  withEdits(
    message,
    openedLeavesOf(message).flatMap((leaf) => change(leaf) ?? []),
  );

/**
 * White space at the end of a line was added on the way, also behind the equals sign of a soft line break
 * (RFC 2045 6.7, rule 3). The parser keeps both, and the line end.
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

/** The texts whose letters the parser would show wrong, in UTF-8; and text files with a name, as files. */
function withReadableTexts(message: Buffer): Buffer {
  let left = LARGEST_TEXT;
  return withChangedLeaves(message, (leaf) => {
    if (leaf.isNamedText) return asFile(message, leaf);
    const { start, body, end, encoding, type, charset, parameters, isAttachment } = leaf;
    if (!SHOWN.test(type) || isAttachment || end - body > left) return null;
    left -= end - body;
    const content = decodedOf(message.subarray(body, end), encoding);
    // The parser ends lines with LF, but not those of base64.
    const letters = mendedLetters(content, charset, type === 'text/html')?.replaceAll('\r\n', '\n');
    if (letters === undefined) return null;
    const flow = ['format', 'delsp'].map((name) => [name, parameters.get(name)] as const);
    const said = flow.map(([name, value]) => (/^\w+$/.test(value ?? '') ? `; ${name}=${value}` : ''));
    const octets = withHeaderFields(message.subarray(start, body), {
      'Content-Type': `${type}; charset=utf-8${said.join('')}`,
      // A line of the letters must not become a delimiter of parts.
      'Content-Transfer-Encoding': 'base64',
    });
    return { start, end, octets: Buffer.concat([octets, base64Lines(Buffer.from(letters))]) };
  });
}

/** The parser shows a text file with a name in the text of the message, and forgets the name. */
function asFile(message: Buffer, { start, body }: Leaf): Edit {
  const header = message.subarray(start, body);
  const written = readFields(header.toString('latin1')).find(({ name }) => name === 'content-disposition');
  const [, ...parameters] = (written ? valueOfField(written) : '').split(';');
  const octets = withHeaderFields(header, {
    'Content-Disposition': ['attachment', ...parameters].join(';'),
  });
  return { start, end: body, octets };
}

/** The Content-Type of the message and of each part as programs mean it, and the names of files. */
function withTypes(message: Buffer): Buffer {
  const whole = { start: 0, end: endOfHeader(message) };
  return withEdits(
    message,
    [whole, ...treeOf(message, true).headers].flatMap(({ start, end }) => {
      const came = message.toString('latin1', start, end);
      // A boundary stays as it is.
      const header = start === 0 || /boundary/i.test(came) ? came : readableWords(came);
      const fields = readFields(header);
      const field = fields.find(({ name }) => name === 'content-type');
      const written = field && valueOfField(field);
      const meant = written === undefined ? '' : mendedType(written, fields);
      const isMeant = written === undefined || meant === written;
      if (isMeant && header === came) return [];
      const octets = Buffer.from(header, 'latin1');
      return {
        start,
        end,
        octets: isMeant ? octets : withHeaderFields(octets, { 'Content-Type': meant }),
      };
    }),
  );
}
