import type { RawContent, RawIndex } from '../../../mail/raw/raw-mail.ts';
import { pack, unpackOctets } from '../../../platform/db/wire/packed-octets.ts';
import type { Content } from './message.ts';

/**
 * The most octets (`Envelope.size`) of a message whose content is read together with it. It lies in the row
 * whole, wherever larger ones lie, and is not counted against the memory.
 */
export const LIGHT = 65_536;

/**
 * Content as it is stored: a zstd frame of JSON, in base64 for the statement. The octets of a message that
 * stays what it is follow behind a line end, which JSON has none of. A small one, as most are, comes at once.
 */
export function packContent(content: Content): string | Promise<string> {
  const packed = pack(writtenContent(content));
  return packed instanceof Promise
    ? packed.then((frame) => frame.toString('base64'))
    : packed.toString('base64');
}

/** The stored form in place of the content of a message that named a person who was forgotten. */
export const erasedContent = async (): Promise<string> =>
  packContent({ text: null, html: null, markdown: null, attachments: [] });

/** The octets of a content before they are packed. */
export function writtenContent(whole: PartialContent): string | Buffer<ArrayBuffer> {
  // As most: a copy of it would be made for nothing.
  if (whole.raw === undefined) return JSON.stringify(whole);
  const { raw, ...content } = whole;
  const { octets, index } = raw;
  return Buffer.concat([Buffer.from(`${JSON.stringify({ ...content, index })}\n`), octets]);
}

/** The part of a content that is stored in one place; other parts lie elsewhere. */
type PartialContent = Partial<Content> & { readonly outside?: unknown };

/** Content from its stored form. */
export const unpackContent = (packed: string): Promise<Content> => unpackStored<Content>(packed);

/** The value of a stored form. */
export const unpackStored = async <Value>(packed: string): Promise<Value> =>
  readContent<Value>(await unpackOctets(Buffer.from(packed, 'base64')));

const LINE_END = 0x0a;

/** The value of the octets that `writtenContent` made. */
export function readContent<Value>(octets: Buffer): Value {
  const end = octets.indexOf(LINE_END);
  if (end === -1) return JSON.parse(octets.toString());
  const { index, ...content } = JSON.parse(octets.toString('utf8', 0, end)) as { readonly index: RawIndex };
  const raw: RawContent = { index, octets: octets.subarray(end + 1) };
  return { ...content, raw } as Value;
}

/** SQL of the stored content of the table `alias`, in the form that `unpackContent` takes. */
export const packedContent = (alias: string): string => `encode(${alias}.content, 'base64')`;
