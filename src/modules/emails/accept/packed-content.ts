import type { Content } from './message.ts';

/**
 * The fastest level, and no higher one makes much less of ordinary mail: a body of 12 kB becomes 1.2 kB in 16 µs, one of 2.5 kB
 * becomes 370 octets in 7. PostgreSQL took 337 µs for 15 kB with pglz, and 61 with lz4.
 */
const OPTIONS = { level: 1 } as const;
/** Contents above it are packed and unpacked on a thread of the runtime's pool: a megabyte takes some 3 ms. */
const LARGE = 65_536;

/**
 * The most octets (`Envelope.size`) of a message whose content is read together with it. It lies in the row whole, wherever larger ones
 * lie, and is not counted against the memory.
 */
export const LIGHT = 65_536;

/** Content as it is stored: JSON in a zstd frame, in base64 for the statement. A small one, as most are, comes at once. */
export function packContent(content: Content): string | Promise<string> {
  const json = JSON.stringify(content);
  return json.length > LARGE
    ? packOctets(json).then((packed) => packed.toString('base64'))
    : Bun.zstdCompressSync(json, OPTIONS).toString('base64');
}

/** A zstd frame of text or octets, made on another thread. */
export const packOctets = (octets: string | Uint8Array<ArrayBuffer>): Promise<Buffer<ArrayBuffer>> =>
  Bun.zstdCompress(octets, OPTIONS) as Promise<Buffer<ArrayBuffer>>;

/** Content from its stored form. */
export const unpackContent = (packed: string): Promise<Content> => unpackStored<Content>(packed);

/** The value of a stored form. */
export const unpackStored = async <Value>(packed: string): Promise<Value> =>
  JSON.parse((await unpackOctets(Buffer.from(packed, 'base64'))).toString());

/** What a zstd frame was made of. */
export const unpackOctets = async (frame: Uint8Array): Promise<Buffer> =>
  frame.length > LARGE
    ? await Bun.zstdDecompress(frame as Uint8Array<ArrayBuffer>)
    : Bun.zstdDecompressSync(frame as Uint8Array<ArrayBuffer>);

/** SQL of the stored content of the table `alias`, in the form that `unpackContent` takes. */
export const packedContent = (alias: string): string => `encode(${alias}.content, 'base64')`;
