import { type PictureResult, problemOfAnimation } from './picture-result.ts';

// WebP (RFC 9649): a RIFF file whose chunks have a name, a length and a padding to even octets.

/** True when the bytes claim to be a WebP. */
export const isWebp = (bytes: Buffer): boolean =>
  bytes.toString('latin1', 0, 4) === 'RIFF' && bytes.toString('latin1', 8, 12) === 'WEBP';

/** The chunks that change the look. Colour profiles, Exif and XMP are removed, and so is anything unknown. */
const KEPT = new Set(['VP8 ', 'VP8L', 'VP8X', 'ALPH', 'ANIM', 'ANMF']);
/** Of the flags of VP8X: alpha and animation. The others announce what is removed. */
const KEPT_FLAGS = 0x12;
const MOST_CHUNKS = 2_000;

const problem = (text: string) => ({ problem: text });
const BROKEN = problem('The WebP is damaged. Save the image again.');
const POLYGLOT = problem('The WebP has data after its end. Save the image again.');

interface Chunk {
  readonly name: string;
  readonly data: Buffer;
  /** With its head and its padding. */
  readonly whole: Buffer;
}

interface Size {
  readonly width: number;
  readonly height: number;
}

/**
 * Reads a WebP: every chunk within its file, one picture or the frames of an animation, each with the size
 * that it announces.
 */
export function readWebp(bytes: Buffer, mostPixels: number): PictureResult {
  if (bytes.length < 20) return BROKEN;
  const end = 8 + bytes.readUInt32LE(4);
  if (end > bytes.length) return BROKEN;
  if (end !== bytes.length) return POLYGLOT;
  const chunks = chunksOf(bytes.subarray(12));
  const size = chunks && sizeOf(chunks);
  if (!size) return BROKEN;
  if (size.width > mostPixels || size.height > mostPixels)
    return problem(`The image is larger than ${mostPixels} pixels per side.`);
  const frames = framesOf(chunks, size);
  if (frames === null) return BROKEN;
  const refused = problemOfAnimation('WebP', frames);
  if (refused) return refused;
  const kept = chunks.filter(({ name }) => KEPT.has(name)).map(withoutFlags);
  const length = kept.reduce((sum, part) => sum + part.length, 4);
  const head = Buffer.alloc(12);
  head.write('RIFF', 0, 'latin1');
  head.writeUInt32LE(length, 4);
  head.write('WEBP', 8, 'latin1');
  return { ...size, content: new Uint8Array(Buffer.concat([head, ...kept])) };
}

function chunksOf(bytes: Buffer): readonly Chunk[] | null {
  const chunks: Chunk[] = [];
  for (let at = 0; at < bytes.length; ) {
    if (at + 8 > bytes.length || chunks.length === MOST_CHUNKS) return null;
    const length = bytes.readUInt32LE(at + 4);
    const end = at + 8 + length + (length % 2);
    if (end > bytes.length) return null;
    chunks.push({
      name: bytes.toString('latin1', at, at + 4),
      data: bytes.subarray(at + 8, at + 8 + length),
      whole: bytes.subarray(at, end),
    });
    at = end;
  }
  return chunks;
}

/** The size of the canvas, or of the only picture. */
const sizeOf = (chunks: readonly Chunk[]): Size | null => {
  const [first] = chunks;
  if (first?.name !== 'VP8X') return first ? sizeOfPicture(first) : null;
  if (first.data.length !== 10) return null;
  return { width: 1 + first.data.readUIntLE(4, 3), height: 1 + first.data.readUIntLE(7, 3) };
};

/** RFC 6386 9.1 for VP8, RFC 9649 3.4 for VP8L. */
function sizeOfPicture({ name, data }: Chunk): Size | null {
  if (name === 'VP8 ') {
    const isKeyFrame = data.length >= 10 && ((data[0] ?? 1) & 1) === 0 && data.readUIntBE(3, 3) === 0x9d012a;
    if (!isKeyFrame) return null;
    const size = { width: data.readUInt16LE(6) & 0x3fff, height: data.readUInt16LE(8) & 0x3fff };
    return size.width > 0 && size.height > 0 ? size : null;
  }
  if (name !== 'VP8L' || data.length < 5 || data[0] !== 0x2f) return null;
  const bits = data.readUInt32LE(1);
  if (bits >>> 29 !== 0) return null;
  return { width: 1 + (bits & 0x3fff), height: 1 + ((bits >>> 14) & 0x3fff) };
}

/** The pixels of each frame; null where pictures are missing, too many, or of another size than announced. */
function framesOf(chunks: readonly Chunk[], canvas: Size): readonly number[] | null {
  const named = (name: string) => chunks.filter((chunk) => chunk.name === name);
  const isAnimated = chunks[0]?.name === 'VP8X' && ((chunks[0].data[0] ?? 0) & 0x02) !== 0;
  if (named('VP8X').length > 1 || (named('VP8X').length === 0 && chunks.length > 1)) return null;
  if (!isAnimated)
    return named('ANMF').length + named('ANIM').length === 0 && isOnePicture(chunks, canvas)
      ? [canvas.width * canvas.height]
      : null;
  const frames = named('ANMF');
  if (named('ANIM').length !== 1 || frames.length === 0 || pictures(chunks).length > 0) return null;
  const pixels: number[] = [];
  for (const { data } of frames) {
    if (data.length < 16) return null;
    const [x, y] = [2 * data.readUIntLE(0, 3), 2 * data.readUIntLE(3, 3)];
    const size = { width: 1 + data.readUIntLE(6, 3), height: 1 + data.readUIntLE(9, 3) };
    const inner = chunksOf(data.subarray(16));
    const fits = x + size.width <= canvas.width && y + size.height <= canvas.height;
    if (!fits || !inner || !isOnePicture(inner, size)) return null;
    pixels.push(size.width * size.height);
  }
  return pixels;
}

const pictures = (chunks: readonly Chunk[]) =>
  chunks.filter(({ name }) => name === 'VP8 ' || name === 'VP8L');

/** True for one picture of that size, at most one alpha plane before it. */
function isOnePicture(chunks: readonly Chunk[], { width, height }: Size): boolean {
  const [picture, ...others] = pictures(chunks);
  const size = picture && sizeOfPicture(picture);
  const planes = chunks.filter(({ name }) => name === 'ALPH').length;
  return others.length === 0 && planes <= 1 && size?.width === width && size.height === height;
}

/** The chunk; VP8X without the flags of what is removed. */
function withoutFlags({ name, whole }: Chunk): Buffer {
  if (name !== 'VP8X') return whole;
  const copy = Buffer.from(whole);
  copy[8] = (copy[8] ?? 0) & KEPT_FLAGS;
  return copy;
}
