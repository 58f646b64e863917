import { pack, unpackOctets } from '../../../platform/db/wire/packed-octets.ts';
import type { Content } from './message.ts';

/**
 * The most octets (`Envelope.size`) of a message whose content is read together with it. It lies in the row whole, wherever larger ones
 * lie, and is not counted against the memory.
 */
export const LIGHT = 65_536;

/** Content as it is stored: JSON in a zstd frame, in base64 for the statement. A small one, as most are, comes at once. */
export function packContent(content: Content): string | Promise<string> {
  const packed = pack(JSON.stringify(content));
  return packed instanceof Promise
    ? packed.then((frame) => frame.toString('base64'))
    : packed.toString('base64');
}

/** Content from its stored form. */
export const unpackContent = (packed: string): Promise<Content> => unpackStored<Content>(packed);

/** The value of a stored form. */
export const unpackStored = async <Value>(packed: string): Promise<Value> =>
  JSON.parse((await unpackOctets(Buffer.from(packed, 'base64'))).toString());

/** SQL of the stored content of the table `alias`, in the form that `unpackContent` takes. */
export const packedContent = (alias: string): string => `encode(${alias}.content, 'base64')`;
