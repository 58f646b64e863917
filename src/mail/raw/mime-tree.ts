/**
 * The parts of a message as places in its octets, so that one of them can be edited and all others stay as
 * they are.
 */
import { endOfHeader, readFields } from './header-editor.ts';
import { typedOf } from './parameters.ts';

/** A part without parts. */
export interface Leaf {
  /** The beginning of its header. */
  readonly start: number;
  /** The beginning of its content, behind the empty line. */
  readonly body: number;
  /** The end of its content, before the line end that belongs to the delimiter. */
  readonly end: number;
  /** In lower case, such as `text/html`. */
  readonly type: string;
  /** Those of its Content-Type, by their names in lower case. */
  readonly parameters: ReadonlyMap<string, string>;
  /** In lower case, '' for none. */
  readonly charset: string;
  /** In lower case; 7bit where nothing is said. */
  readonly encoding: string;
  /** In lower case, '' for none. */
  readonly disposition: string;
  /**
   * True of what is no text of the message: it says so, has a file name, or is a file by its place
   * (`isNamedText`).
   */
  readonly isAttachment: boolean;
  /**
   * True of a text that has a name and stands behind a text of the message, in no container of several forms
   * of one text: Apple Mail and others attach text files so, as `inline` or without a word (RFC 2183 2.3).
   * Mail programs list it as a file.
   */
  readonly isNamedText: boolean;
  /** The container by which its octets must stay what they are; null for a part that may be edited. */
  readonly lockedBy: Lock | null;
}

/**
 * Containers and types in which nothing may be changed: a signature covers the octets, this service cannot
 * read them, or they may not be encoded (RFC 2046 5.2.2.1 and 5.2.3).
 */
export const LOCKS = [
  'multipart/signed',
  'multipart/encrypted',
  'application/pkcs7-mime',
  'application/x-pkcs7-mime',
  'message/rfc822',
  'message/global',
  'message/partial',
  'message/external-body',
] as const;
export type Lock = (typeof LOCKS)[number];

/** Parts within parts, as the parser of the views allows. */
const DEEPEST = 50;

/** A part takes 30 us to read, and usual messages have a few. */
export const MOST_PARTS = 10_000;
/** Octets of the headers of all parts together. */
export const LARGEST_HEADERS = 2_097_152;

/** Types of texts that are shown as the message. */
export const SHOWN = /^text\/(?:plain|html)$/;

const isLock = (type: string): type is Lock => (LOCKS as readonly string[]).includes(type);

/** The places of a message that may be edited. */
interface MimeTree {
  /** In their order. A locked container is one leaf. */
  readonly leaves: Leaf[];
  /** The header of each part but the message itself, in their order; none is within a locked container. */
  readonly headers: { readonly start: number; readonly end: number }[];
  /** True where the parts of locked containers are wanted too, to be read. */
  readonly opensLocked: boolean;
  /** True once a text was visited that belongs to the message, or a locked container, which may have one. */
  hasText: boolean;
  /** Octets of headers that may still be read. */
  octetsLeft: number;
}

/** The container of a part. */
interface Container {
  readonly depth: number;
  /** The type of a part that does not name one (RFC 2046 5.1.5). */
  readonly usual: 'text/plain' | 'message/rfc822';
  /** False of forms of one text, and of a text with its pictures. */
  readonly isMixed: boolean;
}

const WHOLE: Container = { depth: 0, usual: 'text/plain', isMixed: false };

export const leavesOf = (message: Buffer): MimeTree['leaves'] => treeOf(message).leaves;

/**
 * Every part without parts, those in signed and encrypted containers too. A message in a message is one part.
 */
export const openedLeavesOf = (message: Buffer): MimeTree['leaves'] => treeOf(message, true).leaves;

/** The tree of a message, without what is beyond `MOST_PARTS` and `LARGEST_HEADERS`. */
export function treeOf(message: Buffer, opensLocked = false): MimeTree {
  const tree: MimeTree = {
    leaves: [],
    headers: [],
    opensLocked,
    hasText: false,
    octetsLeft: LARGEST_HEADERS,
  };
  visit(message, 0, message.length, WHOLE, tree);
  return tree;
}

function visit(
  message: Buffer,
  start: number,
  end: number,
  { depth, usual, isMixed }: Container,
  tree: MimeTree,
): void {
  const part = message.subarray(start, end);
  const header = endOfHeader(part);
  if (depth > 0) tree.octetsLeft -= header;
  if (tree.octetsLeft < 0) return;
  const fields = readFields(part.toString('latin1', 0, header));
  const body = start + header + lineEndAt(part, header);
  if (depth > 0) tree.headers.push({ start, end: start + header });
  const content = typedOf(fields, 'content-type');
  const type = /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+$/.test(content.value) ? content.value : usual;
  const boundary = content.parameters.get('boundary');
  // A message in it is a file.
  const isLocked = isLock(type) && !type.startsWith('message/');
  const isOpen = tree.opensLocked || !isLock(type);
  if (type.startsWith('multipart/') && isOpen && boundary && depth < DEEPEST) {
    const within: Container = {
      depth: depth + 1,
      usual: type === 'multipart/digest' ? 'message/rfc822' : 'text/plain',
      isMixed: !/^multipart\/(?:alternative|related)$/.test(type),
    };
    const before = tree.hasText;
    let hasText = isLocked || before;
    for (const [from, to] of partsWithin(message, body, end, boundary)) {
      if (tree.headers.length >= MOST_PARTS || tree.octetsLeft < 0) break;
      // Each form of one text is read by itself.
      if (type === 'multipart/alternative') tree.hasText = before;
      visit(message, from, to, within, tree);
      hasText ||= tree.hasText;
    }
    tree.hasText = hasText;
    return;
  }
  const disposition = typedOf(fields, 'content-disposition');
  const hasFilename = disposition.parameters.has('filename');
  const isShown = disposition.value !== 'attachment' && SHOWN.test(type);
  const isNamed = hasFilename || content.parameters.has('name');
  const isNamedText = isShown && isNamed && isMixed && tree.hasText;
  if (isShown || isLocked) tree.hasText = true;
  tree.leaves.push({
    start,
    body,
    end,
    type,
    parameters: content.parameters,
    charset: (content.parameters.get('charset') ?? '').toLowerCase(),
    encoding: typedOf(fields, 'content-transfer-encoding').value || '7bit',
    disposition: disposition.value,
    isAttachment: disposition.value === 'attachment' || hasFilename || isNamedText,
    isNamedText,
    lockedBy: isLock(type) ? type : null,
  });
}

const lineEndAt = (part: Buffer, at: number): number =>
  at >= part.length ? 0 : part[at] === 0x0d && part[at + 1] === 0x0a ? 2 : 1;

/** The beginnings and ends of the parts between delimiters (RFC 2046 5.1.1). */
function* partsWithin(
  message: Buffer,
  begin: number,
  end: number,
  boundary: string,
): Generator<readonly [number, number]> {
  const delimiter = Buffer.from(`--${boundary}`, 'latin1');
  // No search runs beyond the container: one with thousands of others would be searched once for each of
  // them.
  const container = message.subarray(0, end);
  let open = -1;
  for (let at = container.indexOf(delimiter, begin); at !== -1; at = container.indexOf(delimiter, at + 1)) {
    // The rest of a line is read where one begins: a line may repeat the delimiter a million times.
    if (at !== begin && container[at - 1] !== 0x0a) continue;
    const after = at + delimiter.length;
    const lineEnd = container.indexOf('\n', after);
    const stop = lineEnd === -1 ? end : lineEnd;
    const rest = message.toString('latin1', after, Math.min(stop, after + 200)).trimEnd();
    if (rest !== '' && rest !== '--') continue;
    if (open !== -1) yield [open, Math.max(open, at - (message[at - 2] === 0x0d ? 2 : 1))];
    open = rest === '' ? Math.min(stop + 1, end) : -1;
    if (open === -1) return;
  }
  // A message that was cut off ends its last part.
  if (open !== -1) yield [open, end];
}
