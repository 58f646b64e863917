import { type PictureResult, problemOfAnimation } from './picture-result.ts';

// GIF89a (CompuServe, 1990): a header, then blocks of sub-blocks up to a trailer.

/** True when the bytes claim to be a GIF. */
export const isGif = (bytes: Buffer): boolean => /^GIF8[79]a$/.test(bytes.toString('latin1', 0, 6));

const [EXTENSION, IMAGE, TRAILER] = [0x21, 0x2c, 0x3b];
const [GRAPHIC_CONTROL, APPLICATION] = [0xf9, 0xff];
/** The applications that say how often an animation is repeated. */
const LOOPS = new Set(['NETSCAPE2.0', 'ANIMEXTS1.0']);

const problem = (text: string) => ({ problem: text });
const BROKEN = problem('The GIF is damaged. Save the image again.');
const POLYGLOT = problem('The GIF has data after its end. Save the image again.');

/**
 * Reads a GIF from its header to its trailer, which must be the end of the file. Comments and foreign data
 * are removed.
 */
export function readGif(bytes: Buffer, mostPixels: number): PictureResult {
  if (bytes.length < 13) return BROKEN;
  const [width, height] = [bytes.readUInt16LE(6), bytes.readUInt16LE(8)];
  if (width === 0 || height === 0) return BROKEN;
  if (width > mostPixels || height > mostPixels)
    return problem(`The image is larger than ${mostPixels} pixels per side.`);
  let at = 13 + tableSize(bytes[10] ?? 0);
  const kept: Buffer[] = [bytes.subarray(0, at)];
  const frames: number[] = [];
  while (at < bytes.length) {
    const start = at;
    const kind = bytes[at];
    if (kind === TRAILER) {
      if (frames.length === 0) return BROKEN;
      if (at + 1 !== bytes.length) return POLYGLOT;
      const refused = problemOfAnimation('GIF', frames);
      if (refused) return refused;
      kept.push(bytes.subarray(at));
      return { width, height, content: new Uint8Array(Buffer.concat(kept)) };
    }
    if (kind === EXTENSION) at += 2;
    else if (kind === IMAGE) {
      const frame = frameAt(bytes, at);
      if (frame === null || frame.width > mostPixels || frame.height > mostPixels) return BROKEN;
      frames.push(frame.width * frame.height);
      at = frame.data;
    } else return BROKEN;
    const end = endOfBlocks(bytes, at);
    if (end === null) return BROKEN;
    if (kind === IMAGE || isNeeded(bytes, start)) kept.push(bytes.subarray(start, end));
    at = end;
  }
  return BROKEN;
}

/** The octets of the colour table that a packed field announces. */
const tableSize = (packed: number): number => ((packed & 0x80) === 0 ? 0 : 3 * 2 ** ((packed & 7) + 1));

/** A frame, and the place of its first sub-block; null where it is none. */
function frameAt(bytes: Buffer, at: number) {
  if (at + 11 > bytes.length) return null;
  const [width, height] = [bytes.readUInt16LE(at + 5), bytes.readUInt16LE(at + 7)];
  const codes = at + 10 + tableSize(bytes[at + 9] ?? 0);
  const size = bytes[codes] ?? 0;
  return width > 0 && height > 0 && size >= 2 && size <= 11 ? { width, height, data: codes + 1 } : null;
}

/** The place behind the sub-blocks; null when the file ends in them. */
function endOfBlocks(bytes: Buffer, from: number): number | null {
  for (let at = from; at < bytes.length; ) {
    const length = bytes[at] ?? 0;
    at += 1 + length;
    if (length === 0) return at;
  }
  return null;
}

const isNeeded = (bytes: Buffer, at: number): boolean =>
  bytes[at + 1] === GRAPHIC_CONTROL ||
  (bytes[at + 1] === APPLICATION && LOOPS.has(bytes.toString('latin1', at + 3, at + 14)));
