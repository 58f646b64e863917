/**
 * Writes plain mail, text and html without attachments, octet by octet as nodemailer's composer does, in an
 * eighth of its time: one pass over strings instead of a tree of streams. What is not plain is left to the
 * composer, and what is rare in a plain message (names and addresses beyond ASCII, structured fields) to the
 * composer's own functions, so that there is one implementation of each encoding.
 * `tests/unit/transport/plain.test.ts` compares the two.
 */

import { foldLines } from 'nodemailer/lib/mime-funcs';
import MimeNode from 'nodemailer/lib/mime-node';
import type { Mailbox, OutboundMessage } from '../transport/transport.ts';
import type { EncodedPart } from './compiled-part.ts';
import {
  asWritten,
  besideNames,
  dateText,
  forReaders,
  NOBODY_VISIBLE,
  ownFields,
  withLineEnds,
} from './fields.ts';
import { type TransferEncoding, transferEncoded, transferEncodingOf } from './transfer-encoding.ts';

/** The message, or null where it is not plain. */
export function composePlain(message: OutboundMessage): Buffer | null {
  const { text, html } = message;
  const parts = [
    ...(text ? [{ type: PLAIN, content: withLineEnds(text) }] : []),
    ...(html ? [{ type: HTML, content: withLineEnds(html) }] : []),
  ];
  if (!isPlain(message) || parts.some(({ content }) => Buffer.byteLength(content) > LONGEST)) return null;
  const [only, ...others] = parts.map(partOf);
  if (only === undefined) return null;
  const head = headOf(message);
  if (others.length > 0) return Buffer.from(alternatives(message, head, [only, ...others]).join(''));
  const lines = [...head, only.encodingField, 'MIME-Version: 1.0', only.typeField, '', only.body];
  // The composer ends every message with a line end; within a multipart the boundary does.
  return Buffer.from(lines.join('\r\n') + (only.body.endsWith('\n') ? '' : '\r\n'));
}

/**
 * A message of a text and an html part: its head with the empty line after it, its body, and the body as a
 * signature covers it.
 */
export interface AlternativeMessage {
  readonly head: string;
  readonly body: string;
  readonly relaxed: string;
}

/** The message of two parts that are encoded already; null where it is not plain. */
export function composeAlternatives(
  message: Omit<OutboundMessage, 'text' | 'html'>,
  text: EncodedPart,
  html: EncodedPart,
): AlternativeMessage | null {
  if (!isPlain(message)) return null;
  const parts = [
    { ...text, ...fieldsOf(PLAIN, text.encoding) },
    { ...html, ...fieldsOf(HTML, html.encoding) },
  ];
  const [head, body] = alternatives(message, headOf(message), parts);
  if (parts.every((part) => part.body === part.relaxed)) return { head, body, relaxed: body };
  const relaxed = parts.map(({ relaxed: lines, ...part }) => ({ ...part, body: lines }));
  return { head, body, relaxed: bodyOf(message, relaxed) };
}

const PLAIN = 'text/plain';
const HTML = 'text/html';

const isPlain = (message: Omit<OutboundMessage, 'text' | 'html'>): boolean =>
  message.attachments.length === 0 &&
  message.calendar === undefined &&
  ID.test(message.emailId) &&
  MESSAGE_ID.test(message.messageId) &&
  ownFields(message).every(({ name }) => isOwnField(name));

/** The fields before those of MIME. */
function headOf(message: Omit<OutboundMessage, 'text' | 'html'>): string[] {
  const lines: string[] = [];
  for (const { name, value } of ownFields(message)) push(lines, canonicalName(name), value);
  pushAddresses(lines, 'From', [message.from]);
  if (message.to.length > 0) pushAddresses(lines, 'To', message.to);
  else lines.push(`To: ${node.encodeHeaderValue('To', NOBODY_VISIBLE)}`);
  pushAddresses(lines, 'Cc', message.cc);
  pushAddresses(lines, 'Reply-To', message.replyTo);
  push(lines, 'Subject', asWritten(message.subject));
  lines.push(folded(`Message-ID: ${message.messageId}`));
  lines.push(`Date: ${dateText(message.date)}`);
  return lines;
}

const boundaryOf = ({ emailId }: Pick<OutboundMessage, 'emailId'>): string => `--_NmP-${emailId}-Part_1`;

/** Head and body of a message whose parts say the same in several forms. */
function alternatives(
  message: Pick<OutboundMessage, 'emailId'>,
  fields: readonly string[],
  parts: readonly Part[],
): readonly [head: string, body: string] {
  const type = folded(`Content-Type: multipart/alternative; boundary="${boundaryOf(message)}"`);
  return [[...fields, 'MIME-Version: 1.0', type, '', ''].join('\r\n'), bodyOf(message, parts)];
}

function bodyOf(message: Pick<OutboundMessage, 'emailId'>, parts: readonly Part[]): string {
  const boundary = boundaryOf(message);
  const lines = parts.flatMap(({ typeField, encodingField, body }) => [
    `--${boundary}`,
    typeField,
    encodingField,
    '',
    body,
  ]);
  return [...lines, `--${boundary}--`, ''].join('\r\n');
}

/**
 * Octets of a part. The composer encodes a longer one in slices, after which white space is laid out in
 * another way.
 */
const LONGEST = 65_536;
/** An id that needs no cleaning within a boundary, which it must not fold either. */
const ID = /^[A-Za-z0-9_]{1,40}$/;
const MESSAGE_ID = /^<[\x21-\x3b=\x3f-\x7e]{1,500}>$/;

/** Encodes what is not plain ASCII. It has no content, and nothing of one value stays in it for the next. */
const node = forReaders(new MimeNode(false));

const push = (lines: string[], name: string, value: string): void => {
  const encoded =
    AS_IS.test(value) && !value.includes('=?') && !STRUCTURED.has(name)
      ? value
      : node.encodeHeaderValue(name, value);
  if (encoded.trim() !== '') lines.push(folded(`${name}: ${encoded}`));
};

/** Printable ASCII and tabs without a quote, at which the composer begins to encode. */
const AS_IS = /^[\t\x20\x21\x23-\x7e]*$/;
const STRUCTURED: ReadonlySet<string> = new Set(['In-Reply-To', 'References']);

const pushAddresses = (lines: string[], name: string, mailboxes: readonly Mailbox[]): void => {
  const isSimple = mailboxes.every((one) => ADDRESS.test(one.address) && NAME.test(one.name ?? ''));
  const value = isSimple
    ? mailboxes.map((one) => (one.name ? `${one.name} <${one.address}>` : one.address)).join(', ')
    : node.encodeHeaderValue(
        name,
        mailboxes.map((one) => ({ name: one.name ?? '', address: one.address })),
      );
  if (value.trim() !== '') lines.push(folded(`${name}: ${value}`));
};

/**
 * A dot-atom at a lower-case name of letters: neither an IP address nor punycode, which the URL parser may
 * rewrite.
 */
const ADDRESS =
  /^[\w!#$%&'*+\-/=?^`{|}~]+(?:\.[\w!#$%&'*+\-/=?^`{|}~]+)*@(?:(?!xn--)[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+(?!xn--)[a-z][a-z0-9]*$/;
const NAME = /^[\w ]*$/;

const folded = (line: string): string => (line.length < 76 ? line : besideNames(foldLines(line, 76)));

/** False for names that the composer sets itself or reads more from, and for what is no name at all. */
const isOwnField = (name: string): boolean => FIELD.test(name) && !COMPOSERS.test(name);
const FIELD = /^[!-9;-~]+$/;
const COMPOSERS =
  /^(?:from|sender|to|cc|bcc|reply-to|subject|message-id|date|mime-version|content-.*|otp-token)$/i;

/** The composer's way to write names: words begin with a capital, and some are capitals altogether. */
const canonicalName = (name: string): string =>
  name
    .toLowerCase()
    .replace(/^x-smtpapi$|^(?:mime|dkim|arc|bimi)\b|^[a-z]|-(?:spf|fbl|id|md5)$|-[a-z]/g, (word) =>
      word.toUpperCase(),
    );

interface Part {
  readonly typeField: string;
  readonly encodingField: string;
  readonly body: string;
}

const partOf = ({ type, content }: { readonly type: string; readonly content: string }): Part => {
  const encoding = transferEncodingOf(content);
  return { ...fieldsOf(type, encoding), body: transferEncoded(content, encoding) };
};

const fieldsOf = (type: string, encoding: TransferEncoding): Omit<Part, 'body'> => ({
  typeField: `Content-Type: ${type}; charset=utf-8`,
  encodingField: `Content-Transfer-Encoding: ${encoding}`,
});
