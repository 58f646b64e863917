// Cameras store a picture as the sensor saw it, and its orientation in Exif (CIPA DC-008, 4.6.4.A: tag
// 0x0112).

/** 1: upright; 5 to 8: on its side. */
const TAG = 0x0112;
const HEAD = 'Exif\0\0';
/** More than any camera writes. */
const MOST_ENTRIES = 200;

/** The orientation in an Exif segment (marker and length included): 1 to 8; null where it names none. */
export function orientationOf(segment: Buffer): number | null {
  if (segment.toString('latin1', 4, 10) !== HEAD) return null;
  const tiff = segment.subarray(10);
  const order = tiff.toString('latin1', 0, 2);
  if (tiff.length < 8 || (order !== 'II' && order !== 'MM')) return null;
  const isLittle = order === 'II';
  const short = (at: number) => (isLittle ? tiff.readUInt16LE(at) : tiff.readUInt16BE(at));
  const start = isLittle ? tiff.readUInt32LE(4) : tiff.readUInt32BE(4);
  if (start + 2 > tiff.length) return null;
  const entries = Math.min(short(start), MOST_ENTRIES);
  for (let entry = 0; entry < entries; entry++) {
    const at = start + 2 + 12 * entry;
    if (at + 12 > tiff.length) return null;
    if (short(at) !== TAG) continue;
    const value = short(at + 8);
    return value >= 1 && value <= 8 ? value : null;
  }
  return null;
}

/** An Exif segment that says nothing but the orientation. */
export function orientationSegment(orientation: number): Buffer {
  const tiff = Buffer.alloc(26);
  tiff.write('MM\0*', 0, 'latin1');
  tiff.writeUInt32BE(8, 4);
  tiff.writeUInt16BE(1, 8);
  tiff.writeUInt16BE(TAG, 10);
  // A SHORT, once; its value lies in the first half of the field.
  tiff.writeUInt16BE(3, 12);
  tiff.writeUInt32BE(1, 14);
  tiff.writeUInt16BE(orientation, 18);
  const content = Buffer.concat([Buffer.from(HEAD, 'latin1'), tiff]);
  const head = Buffer.from([0xff, 0xe1, 0, 0]);
  head.writeUInt16BE(content.length + 2, 2);
  return Buffer.concat([head, content]);
}

/** True when the shown picture is as wide as the stored one is high. */
export const isOnItsSide = (orientation: number): boolean => orientation >= 5;
