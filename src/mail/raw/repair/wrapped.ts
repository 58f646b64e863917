/**
 * Files that hold what a reader of the message has to see: the text of an opaque S/MIME signature, and the
 * files of Outlook's winmail.dat. They are shown beside the file, which stays.
 */
import { endOfHeader, fieldOf, joinFields, readFields } from '../header-editor.ts';
import { type Leaf, openedLeavesOf } from '../mime-tree.ts';
import { base64Lines, decodedOf } from '../transfer.ts';
import { type Edit, withEdits } from '../wire-form.ts';
import { signedContent } from './signed-data.ts';
import { type TnefFile, tnefFiles } from './tnef.ts';

const SIGNED = /^application\/(?:x-)?pkcs7-mime$/;
const TNEF = /^application\/(?:vnd\.)?ms-tnef$/;
/** A signed message may be signed again on its way (RFC 2634 1.1). */
const MOST_WRAPPINGS = 3;
/** Files of a message that are opened. */
const MOST_OPENED = 10;

/** The message with the parts that its files hold. */
export function withOpened(message: Buffer): Buffer {
  let opened = message;
  const seen = new Set<string>();
  for (let wrapping = 0; wrapping < MOST_WRAPPINGS; wrapping++) {
    if (!mayHold(opened)) return opened;
    const edits = openedLeavesOf(opened).flatMap((leaf) => {
      const digest = digestOf(opened.subarray(leaf.body, leaf.end));
      if (seen.has(digest) || seen.size >= MOST_OPENED) return [];
      const parts = partsOf(opened, leaf);
      if (parts.length === 0) return [];
      seen.add(digest);
      return [withParts(opened, leaf, parts, digest)];
    });
    if (edits.length === 0) return opened;
    opened = withEdits(opened, edits);
  }
  return opened;
}

const digestOf = (octets: Buffer): string =>
  new Bun.CryptoHasher('sha256').update(octets).digest('hex').slice(0, 32);

/** The types as programs write them: a search costs less than the parts of a message. */
const WRITTEN = ['pkcs7-mime', 'PKCS7-MIME', 'ms-tnef', 'MS-TNEF'];
const mayHold = (message: Buffer): boolean => WRITTEN.some((type) => message.includes(type));

/** The entities that a leaf holds. */
function partsOf(message: Buffer, { type, body, end, encoding }: Leaf): readonly Buffer[] {
  if (!SIGNED.test(type) && !TNEF.test(type)) return [];
  const octets = decodedOf(message.subarray(body, end), encoding);
  if (TNEF.test(type)) return tnefFiles(octets).map(entityOf);
  const content = signedContent(octets);
  return content ? [content] : [];
}

/** A file as a part of a message. Its type is not known. */
function entityOf({ name, octets }: TnefFile): Buffer {
  const parameter = `filename*=utf-8''${encodeURIComponent(name.toWellFormed())}`;
  const header = [
    'Content-Type: application/octet-stream',
    `Content-Disposition: attachment; ${parameter}`,
    'Content-Transfer-Encoding: base64',
  ];
  return Buffer.concat([Buffer.from(`${header.join('\r\n')}\r\n\r\n`), base64Lines(octets)]);
}

/** The leaf as a container of these parts and of itself. */
function withParts(
  message: Buffer,
  { start, body, end }: Leaf,
  parts: readonly Buffer[],
  digest: string,
): Edit {
  const part = message.subarray(start, body);
  const fields = readFields(part.toString('latin1', 0, endOfHeader(part)));
  const isOfContent = ({ name }: { readonly name: string }): boolean => name.startsWith('content-');
  const outer = [
    fieldOf('Content-Type', `multipart/mixed; boundary="opened-${digest}"`),
    fieldOf('Content-Transfer-Encoding', '8bit'),
  ];
  const delimiter = `--opened-${digest}`;
  const pieces = [
    joinFields(fields.map((field) => outer.find(({ name }) => name === field.name) ?? field)),
    Buffer.from('\r\n'),
    ...parts.flatMap((each) => [Buffer.from(`${delimiter}\r\n`), each, Buffer.from('\r\n')]),
    Buffer.from(`${delimiter}\r\n`),
    joinFields(fields.filter(isOfContent)),
    Buffer.from('\r\n'),
    message.subarray(body, end),
    Buffer.from(`\r\n${delimiter}--\r\n`),
  ];
  return { start, end, octets: Buffer.concat(pieces) };
}
