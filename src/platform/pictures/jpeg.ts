import { isOnItsSide, orientationOf, orientationSegment } from './orientation.ts';
import type { PictureResult } from './picture-result.ts';

// JPEG (ITU-T T.81, annex B): segments that start with a marker, and entropy-coded data after each SOS.

/** True when the bytes claim to be a JPEG. */
export const isJpeg = (bytes: Buffer): boolean => bytes[0] === 0xff && bytes[1] === 0xd8 && bytes[2] === 0xff;

const [DHT, EOI, SOS, DQT, DNL, APP0, APP1, APP14] = [0xc4, 0xd9, 0xda, 0xdb, 0xdc, 0xe0, 0xe1, 0xee];

/** Baseline, extended and progressive: the frames that every mail program can show. */
const FRAMES = new Set([0xc0, 0xc1, 0xc2]);
/** All markers of frames: C4 (DHT), C8 (reserved) and CC (arithmetic coding) lie among them. */
const isFrame = (marker: number): boolean =>
  marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;

/** Most segments: a megabyte could hold 260,000 empty ones. */
const MOST_SEGMENTS = 500;

const problem = (text: string) => ({ problem: text });
const BROKEN = problem('The JPEG is damaged. Save the image again.');
const POLYGLOT = problem('The JPEG has data after its end. Save the image again.');
const UNUSUAL = problem('Mail programs do not show this kind of JPEG. Save it as a baseline JPEG.');

/**
 * True for data that cameras append, which is left out: a second picture for bright screens or of the depth
 * (CIPA DC-007, Ultra HDR), the film of a motion photo (ISO 14496-12), the notes of Samsung's telephones, or
 * zeros. Anything else behind the end is a file of two kinds.
 */
function isOfCameras(rest: Buffer): boolean {
  const start = rest.findIndex((octet) => octet !== 0);
  if (start === -1) return true;
  const data = rest.subarray(start);
  return (
    isJpeg(data) ||
    rest.toString('latin1', 4, 8) === 'ftyp' ||
    rest.toString('latin1', rest.length - 4) === 'SEFT'
  );
}

interface Frame {
  readonly width: number;
  readonly height: number;
}

/**
 * Reads a JPEG from SOI to EOI, which must be the end of the file but for data of cameras. It keeps the
 * segments that the pixels need; comments, Exif (with its thumbnail and location) and profiles are removed.
 * Of Exif the orientation stays: without it, a photograph from a telephone lies on its side.
 */
export function readJpeg(bytes: Buffer, mostPixels: number): PictureResult {
  const kept: Buffer[] = [];
  let frame: Frame | null = null;
  let orientation = 1;
  let hasScan = false;
  let at = 2;
  for (let segments = 0; segments < MOST_SEGMENTS; segments++) {
    if (bytes[at] !== 0xff) return BROKEN;
    while (bytes[at + 1] === 0xff) at++;
    const marker = bytes[at + 1] ?? 0;
    if (marker === EOI) {
      if (!frame || !hasScan) return BROKEN;
      if (!isOfCameras(bytes.subarray(at + 2))) return POLYGLOT;
      const start = [bytes.subarray(0, 2), ...(orientation === 1 ? [] : [orientationSegment(orientation)])];
      const { width, height } = frame;
      return {
        ...(isOnItsSide(orientation) ? { width: height, height: width } : { width, height }),
        content: new Uint8Array(Buffer.concat([...start, ...kept, bytes.subarray(at, at + 2)])),
      };
    }
    const end = endOfSegment(bytes, at, marker);
    if (end === null) return BROKEN;
    const segment = bytes.subarray(at, end);
    if (isFrame(marker)) {
      const read: ReturnType<typeof readFrame> =
        frame === null ? readFrame(segment, marker, mostPixels) : BROKEN;
      if ('problem' in read) return read;
      frame = read;
    } else if (marker === SOS) {
      if (!frame) return BROKEN;
      hasScan = true;
    } else if (marker === DNL) return UNUSUAL;
    else if (marker === APP1) orientation = orientationOf(segment) ?? orientation;
    if (isNeeded(marker, segment)) kept.push(segment);
    at = end;
  }
  return BROKEN;
}

/** The end of a segment; that of its coded data where a scan starts. Null when the file ends in it. */
function endOfSegment(bytes: Buffer, at: number, marker: number): number | null {
  if (marker < 0xc0 || (marker >= 0xd0 && marker <= 0xd8) || at + 4 > bytes.length) return null;
  const length = bytes.readUInt16BE(at + 2);
  const end = at + 2 + length;
  if (length < 2 || end > bytes.length) return null;
  return marker === SOS ? endOfScan(bytes, end) : end;
}

/** In coded data, FF is followed by 00, or by a restart marker; anything else is the next segment. */
function endOfScan(bytes: Buffer, from: number): number | null {
  for (let at = bytes.indexOf(0xff, from); at !== -1; at = bytes.indexOf(0xff, at + 2)) {
    const next = bytes[at + 1];
    if (next === undefined) return null;
    if (next !== 0 && !(next >= 0xd0 && next <= 0xd7)) return at === from ? null : at;
  }
  return null;
}

function readFrame(
  segment: Buffer,
  marker: number,
  mostPixels: number,
): Frame | { readonly problem: string } {
  if (!FRAMES.has(marker)) return UNUSUAL;
  const components = segment[9] ?? 0;
  if (segment.length !== 10 + 3 * components) return BROKEN;
  if (segment[4] !== 8 || ![1, 3, 4].includes(components)) return UNUSUAL;
  const [height, width] = [segment.readUInt16BE(5), segment.readUInt16BE(7)];
  if (width === 0 || height === 0) return BROKEN;
  if (width > mostPixels || height > mostPixels)
    return problem(`The image is larger than ${mostPixels} pixels per side.`);
  return { width, height };
}

/**
 * Of the application segments only JFIF without a thumbnail and Adobe's colour transform change the picture.
 */
function isNeeded(marker: number, segment: Buffer): boolean {
  if (marker === APP0) return segment.length === 18 && segment.toString('latin1', 4, 9) === 'JFIF\0';
  if (marker === APP14) return segment.length === 16 && segment.toString('latin1', 4, 9) === 'Adobe';
  // DRI is DD.
  return isFrame(marker) || [DHT, DQT, SOS, 0xdd].includes(marker);
}
