/** The files of a message, with the octets that the sender attached. */
import type { Attachment, Email } from 'postal-mime';
import { type Leaf, openedLeavesOf, SHOWN } from './mime-tree.ts';
import { decodedOf } from './transfer.ts';

/** A file as the parser describes it, and its octets. */
export interface MessageFile {
  readonly described: Attachment;
  readonly octets: Uint8Array;
}

/**
 * The files of a parsed message, in their order. postal-mime 4.0.0 ends every line of a part that is not in
 * base64 with LF, drops other CR and adds a line end: a patch, a signed text or a forwarded message would no
 * longer match its hash or its signature. So the octets of such parts are cut out of the message. Where this
 * reading of a malformed message finds other parts, the parser's octets count.
 */
export function filesOf({ attachments }: Email, message: Buffer): readonly MessageFile[] {
  if (attachments.length === 0) return [];
  const leaves = openedLeavesOf(message).filter((leaf) => !isShown(leaf));
  const isSame =
    leaves.length === attachments.length &&
    leaves.every(({ type }, at) => type === attachments[at]?.mimeType);
  return attachments.map((described, at) => {
    const leaf = isSame ? leaves[at] : undefined;
    return { described, octets: (leaf && cutOut(message, leaf)) ?? parsedOctets(described) };
  });
}

/** A part that readers show, and do not list as a file. */
const isShown = ({ type, disposition, isNamedText }: Leaf): boolean =>
  disposition !== 'attachment' && SHOWN.test(type) && !isNamedText;

/** Null for base64, which has no lines. The encoding is found as the parser finds it. */
function cutOut(message: Buffer, { body, end, encoding }: Leaf): Uint8Array | null {
  if (encoding.includes('base64')) return null;
  const isQuoted = encoding.includes('quoted-printable');
  return decodedOf(message.subarray(body, end), isQuoted ? 'quoted-printable' : encoding);
}

function parsedOctets({ content, mimeType }: Attachment): Uint8Array {
  const octets = typeof content === 'string' ? Buffer.from(content) : new Uint8Array(content);
  return mimeType === 'text/calendar' ? withCrlf(octets) : octets;
}

/** postal-mime ends the lines of a calendar with LF. RFC 5545 3.1 requires CRLF, as it came. */
const withCrlf = (calendar: Uint8Array): Uint8Array =>
  Buffer.from(Buffer.from(calendar).toString().replace(/\r?\n/g, '\r\n'));
