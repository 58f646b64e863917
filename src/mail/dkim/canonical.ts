/**
 * The relaxed canonical forms of RFC 6376 3.4. A signature covers these, so that harmless changes in transit do not break it.
 */

/** One header field as written in the message, folds included, without its final CRLF. */
export interface RawField {
  /** The name in lower case. */
  readonly name: string;
  readonly raw: string;
}

/** Splits a message at its first empty line. The fields keep their order. */
export const readMessage = (
  message: Buffer,
): { readonly fields: readonly RawField[]; readonly body: Buffer } => {
  const end = message.indexOf('\r\n\r\n');
  const head = end < 0 ? message : message.subarray(0, end);
  const body = end < 0 ? NOTHING : message.subarray(end + 4);
  // latin1 keeps every octet as it is; header fields beyond ASCII occur where SMTPUTF8 is spoken.
  const fields = head
    .toString('latin1')
    .split(/\r\n(?![ \t])/)
    .map((raw) => ({
      name: raw
        .slice(0, raw.indexOf(':'))
        .replace(/[ \t]+$/, '')
        .toLowerCase(),
      raw,
    }));
  return { fields, body };
};

const NOTHING = Buffer.alloc(0);

/**
 * RFC 6376 3.4.2: lower-case name, unfolded, runs of white space as one space, none around the value. No final CRLF.
 */
export const relaxedField = ({ name, raw }: RawField): string => {
  const value = raw.slice(raw.indexOf(':') + 1);
  return `${name}:${(FOLDED.test(value) ? value.replace(/\r\n/g, '').replace(/[ \t]+/g, ' ') : value).trim()}`;
};

const FOLDED = /\r\n|\t| {2}/;

/**
 * RFC 6376 3.4.4: no white space at line ends, single spaces within lines, no empty lines at the end, one CRLF after
 * the last.
 */
export const relaxedBody = (body: Buffer): Buffer => {
  const text = withoutFinalLineEnds(isPlain(body) ? body : squeezed(body));
  return text.length === 0 ? NOTHING : Buffer.concat([text, CRLF]);
};

/** The same for one line. */
export const relaxedLine = (line: string): string => line.replace(/[ \t]+/g, ' ').replace(/ $/, '');

const CRLF = Buffer.from('\r\n');

// Base64 has no white space to reduce. Native searches find that out in a third of the time (24 MB: 70 ms, squeezed 200 ms).
const isPlain = (body: Buffer): boolean =>
  !body.includes('\t') && !body.includes('  ') && !body.includes(' \r\n') && body.at(-1) !== SPACE;

/** Octet by octet: a pattern takes four times as long for html that is indented. */
const squeezed = (body: Buffer): Buffer => {
  const octets = Buffer.allocUnsafe(body.length);
  let length = 0;
  for (let at = 0; at < body.length; at++) {
    const octet = body[at] as number;
    if (octet !== SPACE && octet !== TAB) {
      octets[length++] = octet;
      continue;
    }
    while (body[at + 1] === SPACE || body[at + 1] === TAB) at++;
    const isLast = at + 1 === body.length || (body[at + 1] === CR && body[at + 2] === LF);
    if (!isLast) octets[length++] = SPACE;
  }
  return octets.subarray(0, length);
};

const SPACE = 0x20;
const TAB = 0x09;
const CR = 0x0d;
const LF = 0x0a;

const withoutFinalLineEnds = (body: Buffer): Buffer => {
  let end = body.length;
  while (end >= 2 && body[end - 1] === LF && body[end - 2] === CR) end -= 2;
  return body.subarray(0, end);
};
