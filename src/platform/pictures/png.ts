import { crc32, createInflate } from 'node:zlib';
import type { PictureResult } from './picture-result.ts';

// PNG, third edition (W3C): a signature, then chunks of length, type, content and CRC, from IHDR to IEND.

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

/** True when the bytes claim to be a PNG. */
export const isPng = (bytes: Buffer): boolean => bytes.subarray(0, 8).equals(SIGNATURE);

/** The chunks that change the look of an image. All others are not stored. */
const KEPT = new Set(['IHDR', 'PLTE', 'tRNS', 'gAMA', 'cHRM', 'sRGB', 'sBIT', 'pHYs', 'IDAT', 'IEND']);

/** The chunks of an animated PNG (acTL, fcTL, fdAT). */
const ANIMATION = new Set(['acTL', 'fcTL', 'fdAT']);

/** Samples per pixel, and the depths that each colour type may have (table 12 of the specification). */
const COLOURS: Readonly<Record<number, { readonly samples: number; readonly depths: readonly number[] }>> = {
  0: { samples: 1, depths: [1, 2, 4, 8, 16] },
  2: { samples: 3, depths: [8, 16] },
  3: { samples: 1, depths: [1, 2, 4, 8] },
  4: { samples: 2, depths: [8, 16] },
  6: { samples: 4, depths: [8, 16] },
};

/** Most chunks of one file: a megabyte could hold 87,000 empty ones. */
const MOST_CHUNKS = 2_000;

interface Chunk {
  readonly type: string;
  readonly data: Buffer;
  /** Length, type, content and CRC together. */
  readonly whole: Buffer;
}

const problem = (text: string) => ({ problem: text });
const BROKEN = problem('The PNG is damaged. Save the image again.');
const ANIMATED = problem('The PNG is animated. Use a still image.');
const POLYGLOT = problem('The PNG has data after its end. Save the image again.');

/** Reads a PNG: every chunk with its CRC, in order, and exactly the pixels that the header announces. */
export async function readPng(bytes: Buffer, mostPixels: number): Promise<PictureResult> {
  const chunks = chunksOf(bytes);
  if ('problem' in chunks) return chunks;
  const header = headerOf(chunks);
  if (header === null || !isInOrder(chunks, header.colour)) return BROKEN;
  if (chunks.some(({ type }) => ANIMATION.has(type))) return ANIMATED;
  const { width, height } = header;
  if (width > mostPixels || height > mostPixels)
    return problem(`The image is larger than ${mostPixels} pixels per side.`);
  const pixels = chunks.filter(({ type }) => type === 'IDAT').map(({ data }) => data);
  if (!(await inflatesTo(octetsOf(header), pixels))) return BROKEN;
  const kept = chunks.filter(({ type }) => KEPT.has(type)).map(({ whole }) => whole);
  return { width, height, content: new Uint8Array(Buffer.concat([SIGNATURE, ...kept])) };
}

function chunksOf(bytes: Buffer): readonly Chunk[] | { readonly problem: string } {
  const chunks: Chunk[] = [];
  for (let at = 8; at < bytes.length; ) {
    if (at + 12 > bytes.length || chunks.length === MOST_CHUNKS) return BROKEN;
    const end = at + 12 + bytes.readUInt32BE(at);
    if (end > bytes.length || crc32(bytes.subarray(at + 4, end - 4)) !== bytes.readUInt32BE(end - 4))
      return BROKEN;
    const type = bytes.toString('latin1', at + 4, at + 8);
    chunks.push({ type, data: bytes.subarray(at + 8, end - 4), whole: bytes.subarray(at, end) });
    at = end;
    if (type === 'IEND') return at === bytes.length ? chunks : POLYGLOT;
  }
  return BROKEN;
}

interface Header {
  readonly width: number;
  readonly height: number;
  readonly colour: number;
  readonly bitsPerPixel: number;
  readonly interlaced: boolean;
}

function headerOf([first]: readonly Chunk[]): Header | null {
  if (first?.type !== 'IHDR' || first.data.length !== 13) return null;
  const [width, height] = [first.data.readUInt32BE(0), first.data.readUInt32BE(4)];
  const [depth, colour, compression, filter, interlace] = first.data.subarray(8);
  const known = COLOURS[colour ?? -1];
  if (width === 0 || height === 0 || !known?.depths.includes(depth ?? 0)) return null;
  if (compression !== 0 || filter !== 0 || (interlace !== 0 && interlace !== 1)) return null;
  const bitsPerPixel = known.samples * (depth ?? 0);
  return { width, height, colour: colour ?? 0, bitsPerPixel, interlaced: interlace === 1 };
}

/** One header, contiguous pixels, at most one palette before them, and an empty end. */
function isInOrder(chunks: readonly Chunk[], colour: number): boolean {
  const types = chunks.map(({ type }) => type);
  const count = (name: string) => types.filter((type) => type === name).length;
  const [first, last, palette] = [types.indexOf('IDAT'), types.lastIndexOf('IDAT'), types.indexOf('PLTE')];
  const colours = (chunks[palette]?.data.length ?? 0) / 3;
  return (
    first > 0 &&
    last - first + 1 === count('IDAT') &&
    count('IHDR') === 1 &&
    chunks.at(-1)?.data.length === 0 &&
    count('PLTE') <= 1 &&
    (colour !== 3 || palette !== -1) &&
    (palette === -1 || (palette < first && Number.isInteger(colours) && colours >= 1 && colours <= 256)) &&
    // A chunk with a capital first letter is critical.
    types.every((type) => KEPT.has(type) || /^[a-z][a-zA-Z]{3}$/.test(type))
  );
}

/** Column and row of the first pixel of each pass of Adam7, and the steps to the next. */
const PASSES = [
  [0, 0, 8, 8],
  [4, 0, 8, 8],
  [0, 4, 4, 8],
  [2, 0, 4, 4],
  [0, 2, 2, 4],
  [1, 0, 2, 2],
  [0, 1, 1, 2],
] as const;

/** The octets of the pixels before compression: each row starts with its filter. */
function octetsOf({ width, height, bitsPerPixel, interlaced }: Header): number {
  const of = (columns: number, rows: number) =>
    columns === 0 ? 0 : rows * (1 + Math.ceil((columns * bitsPerPixel) / 8));
  if (!interlaced) return of(width, height);
  const passes = PASSES.map(([x, y, dx, dy]) =>
    of(Math.max(0, Math.ceil((width - x) / dx)), Math.max(0, Math.ceil((height - y) / dy))),
  );
  return passes.reduce((sum, octets) => sum + octets, 0);
}

/**
 * True when the streams together inflate to exactly this number of octets. The octets are counted, not kept.
 */
async function inflatesTo(octets: number, parts: readonly Buffer[]): Promise<boolean> {
  const inflate = createInflate();
  let seen = 0;
  try {
    inflate.end(Buffer.concat(parts));
    for await (const part of inflate) {
      seen += (part as Buffer).length;
      if (seen > octets) return false;
    }
    return seen === octets;
  } catch {
    return false;
  } finally {
    inflate.destroy();
  }
}
