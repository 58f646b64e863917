/**
 * Edits the header of a message field by field. A field is kept as its octets, folds included: nothing that
 * is not edited changes. Octets are strings in latin1, in which each octet is one character.
 */

/** One field as it was written, with its line ends. */
export interface RawField {
  /** In lower case; '' for lines that are no field, such as the first line of an mbox. */
  readonly name: string;
  readonly octets: string;
}

/** A message that was divided behind its last field. */
export interface DividedMessage {
  readonly fields: readonly RawField[];
  /** The empty line and the body; empty for a message of fields alone. */
  readonly rest: Buffer;
}

const LF = 0x0a;
const CR = 0x0d;
const SPACE = 0x20;
const TAB = 0x09;

// Programs that unfold a header before they read its names see one before a fold as well: a second From, or a
// Bcc, could hide there.
const NAME = /^([!-9;-~]+)(?:[ \t]|\r?\n[ \t])*:/;

/** Divides a message at its first empty line, also where lines end with LF alone. */
export function divideMessage(message: Buffer): DividedMessage {
  const end = endOfHeader(message);
  return { fields: readFields(message.toString('latin1', 0, end)), rest: message.subarray(end) };
}

/** The message of these parts. It holds an empty line where there is a body. */
export const joinMessage = ({ fields, rest }: DividedMessage): Buffer =>
  Buffer.concat([joinFields(fields), rest]);

/** The octets of a header without its empty line. */
export const joinFields = (fields: readonly RawField[]): Buffer =>
  Buffer.from(fields.map(({ octets }) => octets).join(''), 'latin1');

/** Octets of a header that are read. Usual ones have some KiB; servers refuse more than 64 to 256. */
export const LARGEST_HEADER = 262_144;

/** The offset of the empty line that ends the header; the length of a message without one. */
export function endOfHeader(message: Buffer): number {
  for (let at = 0; at < message.length; ) {
    if (message[at] === LF || (message[at] === CR && message[at + 1] === LF)) return at;
    const end = message.indexOf(LF, at);
    if (end === -1) return message.length;
    at = end + 1;
  }
  return message.length;
}

/** The fields of a header, or of the header of a part. */
export function readFields(header: string): readonly RawField[] {
  const fields: RawField[] = [];
  for (let at = 0; at < header.length; ) {
    let end = header.indexOf('\n', at);
    while (end !== -1 && isFold(header.charCodeAt(end + 1))) end = header.indexOf('\n', end + 1);
    const octets = header.slice(at, end === -1 ? header.length : end + 1);
    fields.push({ name: NAME.exec(octets)?.[1]?.toLowerCase() ?? '', octets });
    at += octets.length;
  }
  return fields;
}

const isFold = (code: number): boolean => code === SPACE || code === TAB;

/**
 * The value of a field, unfolded (RFC 5322 2.2.3), without white space around it. Its octets are in latin1.
 */
export const valueOfField = ({ octets }: RawField): string =>
  octets
    .slice(octets.indexOf(':') + 1)
    .replace(/\r?\n/g, '')
    .trim();

/** The same in Unicode: raw octets are UTF-8 where they can be. */
export const lettersOf = (field: RawField): string => Buffer.from(valueOfField(field), 'latin1').toString();

/** A field of a value that has no line ends but folds. */
export const fieldOf = (name: string, value: string): RawField => ({
  name: name.toLowerCase(),
  octets: `${name}: ${Buffer.from(value).toString('latin1')}\r\n`,
});

/** The fields with one more at their end. */
export function withField(fields: readonly RawField[], field: RawField): readonly RawField[] {
  const last = fields.at(-1);
  if (last === undefined || last.octets.endsWith('\n')) return [...fields, field];
  return [...fields.slice(0, -1), { ...last, octets: `${last.octets}\r\n` }, field];
}

/** The fields with a new one in the place of the first of its name, or at the end where there is none. */
export function replaceField(fields: readonly RawField[], field: RawField): readonly RawField[] {
  const at = fields.findIndex(({ name }) => name === field.name);
  return at === -1 ? withField(fields, field) : fields.with(at, field);
}

/** The most octets of a line without its line end (RFC 5322 2.1.1). */
export const LONGEST_LINE = 998;
const FOLDED_AT = 76;

/**
 * The field with folds where a line is too long. A fold is put before white space that is there, outside of
 * quoted strings, and the unfolded value stays what it was. A word that is too long stays in one line.
 */
export function foldLongLines(field: RawField): RawField {
  if (field.octets.length <= LONGEST_LINE) return field;
  const octets = field.octets.replace(/[^\r\n]+/g, (line) =>
    line.length <= LONGEST_LINE ? line : foldLine(line),
  );
  return octets === field.octets ? field : { ...field, octets };
}

function foldLine(line: string): string {
  const pieces: string[] = [];
  let begin = 0;
  let fold = -1;
  let isQuoted = false;
  // Behind the name nothing is gained by a fold, and a line of white space alone would not be legal (RFC 5322
  // 3.2.2).
  let hasWord = false;
  const colon = NAME.exec(line)?.[0].length ?? 0;
  for (let at = colon; at < line.length; at++) {
    const code = line.charCodeAt(at);
    if (code === 0x5c && isQuoted) at++;
    else if (code === 0x22) isQuoted = !isQuoted;
    else if (isFold(code) && !isQuoted) {
      if (hasWord && !isFold(line.charCodeAt(at - 1))) fold = at;
      continue;
    }
    hasWord = true;
    if (fold > begin && at - begin >= FOLDED_AT) {
      pieces.push(line.slice(begin, fold));
      begin = fold;
    }
  }
  return [...pieces, line.slice(begin)].join('\r\n');
}
