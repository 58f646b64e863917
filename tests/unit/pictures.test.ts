import { describe, expect, test } from 'bun:test';
import { readGif } from '../../src/platform/pictures/gif.ts';
import { isOnItsSide, orientationOf, orientationSegment } from '../../src/platform/pictures/orientation.ts';
import { checkPicture, PICTURE_TYPES, typeOfFile } from '../../src/platform/pictures/picture.ts';
import { readWebp } from '../../src/platform/pictures/webp.ts';
import { anmf, gifExtension, gifOf, vp8l, vp8x, webpChunk, webpOf } from '../support/pictures.ts';

const MOST = 6_000;
const LOOP = gifExtension(0xff, 'NETSCAPE2.0', '\x01\0\0');
const CONTROL = gifExtension(0xf9, '\0\x0a\0\0');
const SMALL = { width: 3, height: 2 };

type Read = ReturnType<typeof readGif>;
const problemOf = (read: Read): string => ('problem' in read ? read.problem : '');
const octetsOf = (read: Read): Buffer => {
  if ('problem' in read) throw new Error(read.problem);
  return Buffer.from(read.content);
};

describe('a GIF', () => {
  test('keeps its frames, their times and its loop, and loses comments and foreign data', () => {
    const before = Buffer.concat([
      LOOP,
      gifExtension(0xfe, 'at home'),
      gifExtension(0xff, 'XMP DataXMP', '<x>'),
      gifExtension(0x01, 'plain text'),
      CONTROL,
    ]);
    const read = readGif(gifOf({ ...SMALL, frames: 2, before }), MOST);
    expect(read).toMatchObject(SMALL);
    expect(octetsOf(read)).toEqual(gifOf({ ...SMALL, frames: 2, before: Buffer.concat([LOOP, CONTROL]) }));
  });

  const good = gifOf(SMALL);
  test.each([
    ['of nothing but its signature', good.subarray(0, 6), 'damaged'],
    ['cut off in the middle', good.subarray(0, good.length - 4), 'damaged'],
    ['without a trailer', good.subarray(0, -1), 'damaged'],
    ['without a frame', gifOf({ ...SMALL, frames: 0 }), 'damaged'],
    ['with html behind its end', Buffer.concat([good, Buffer.from('<script>')]), 'after its end'],
    ['of no width', gifOf({ ...SMALL, width: 0 }), 'damaged'],
    ['one pixel too wide', gifOf({ ...SMALL, width: MOST + 1 }), 'larger than 6000'],
    ['one pixel too high', gifOf({ ...SMALL, height: MOST + 1 }), 'larger than 6000'],
    ['with one frame too many', gifOf({ ...SMALL, frames: 501 }), 'more than 500 frames'],
    ['of too many pixels', gifOf({ width: 6_000, height: 6_000, frames: 7 }), '250 million pixels'],
    ['with an unknown block', gifOf({ ...SMALL, before: Buffer.from([0x77, 0, 0]) }), 'damaged'],
  ])('%s is refused', (_, bytes, says) => expect(problemOf(readGif(bytes, MOST))).toContain(says));

  test('at the limits is taken', () => {
    expect(readGif(gifOf({ ...SMALL, frames: 500 }), MOST)).toMatchObject(SMALL);
    expect(readGif(gifOf({ width: MOST, height: MOST, frames: 6 }), MOST)).toMatchObject({ width: MOST });
  });
});

describe('a WebP', () => {
  const picture = vp8l(3, 2);
  test('keeps picture, alpha and animation, and loses profile, Exif and XMP', () => {
    const told = webpOf(
      vp8x(0x3c, 3, 2),
      webpChunk('ICCP', Buffer.from('profile')),
      picture,
      webpChunk('EXIF', Buffer.from('place')),
      webpChunk('XMP ', Buffer.from('<x>')),
      webpChunk('prVt', Buffer.from('odd')),
    );
    const read = readWebp(told, MOST);
    expect(read).toMatchObject(SMALL);
    expect(octetsOf(read)).toEqual(webpOf(vp8x(0x10, 3, 2), picture));
    const moving = webpOf(
      vp8x(0x12, 3, 2),
      webpChunk('ANIM', Buffer.alloc(6)),
      anmf(3, 2, picture),
      anmf(2, 1, vp8l(2, 1)),
    );
    expect(octetsOf(readWebp(moving, MOST))).toEqual(moving);
  });

  const good = webpOf(picture);
  test('without a canvas is its only picture', () => {
    expect(readWebp(good, MOST)).toMatchObject(SMALL);
    const lossy = Buffer.alloc(12);
    Buffer.from([0x10, 0, 0, 0x9d, 0x01, 0x2a, 3, 0, 2, 0]).copy(lossy);
    expect(readWebp(webpOf(webpChunk('VP8 ', lossy)), MOST)).toMatchObject(SMALL);
  });

  test.each([
    ['cut off in the middle', good.subarray(0, -4), 'damaged'],
    ['with html behind its end', Buffer.concat([good, Buffer.from('<script>')]), 'after its end'],
    ['with two pictures', webpOf(vp8x(0, 3, 2), picture, picture), 'damaged'],
    ['without a picture', webpOf(vp8x(0, 3, 2), webpChunk('EXIF', Buffer.from('place'))), 'damaged'],
    ['of another size than its canvas', webpOf(vp8x(0, 3, 3), picture), 'damaged'],
    ['one pixel too wide', webpOf(vp8l(MOST + 1, 1)), 'larger than 6000'],
    ['as wide as a canvas can say', webpOf(vp8x(0, 0x100_0000, 1), picture), 'larger than 6000'],
    [
      'whose frame leaves its canvas',
      webpOf(vp8x(2, 3, 2), webpChunk('ANIM', Buffer.alloc(6)), anmf(4, 2, vp8l(4, 2))),
      'damaged',
    ],
    [
      'with an animation without frames',
      webpOf(vp8x(2, 3, 2), webpChunk('ANIM', Buffer.alloc(6))),
      'damaged',
    ],
    [
      'with one frame too many',
      webpOf(
        vp8x(2, 3, 2),
        webpChunk('ANIM', Buffer.alloc(6)),
        ...Array.from({ length: 501 }, () => anmf(1, 1, vp8l(1, 1))),
      ),
      'more than 500 frames',
    ],
    ['with a chunk beside a simple picture', webpOf(picture, webpChunk('EXIF', Buffer.from('x'))), 'damaged'],
  ])('%s is refused', (_, bytes, says) => expect(problemOf(readWebp(bytes, MOST))).toContain(says));
});

describe('the orientation of a photograph', () => {
  /** Exif as a camera writes it, with one entry before and one behind the orientation. */
  const exif = (order: 'II' | 'MM', orientation: number): Buffer => {
    const tiff = Buffer.alloc(8 + 2 + 3 * 12 + 4);
    const isLittle = order === 'II';
    const short = (value: number, at: number) =>
      isLittle ? tiff.writeUInt16LE(value, at) : tiff.writeUInt16BE(value, at);
    const long = (value: number, at: number) =>
      isLittle ? tiff.writeUInt32LE(value, at) : tiff.writeUInt32BE(value, at);
    tiff.write(order, 0, 'latin1');
    short(42, 2);
    long(8, 4);
    short(3, 8);
    for (const [index, [tag, value]] of [
      [0x0100, 640],
      [0x0112, orientation],
      [0x0128, 2],
    ].entries()) {
      const at = 10 + 12 * index;
      short(tag ?? 0, at);
      short(3, at + 2);
      long(1, at + 4);
      short(value ?? 0, at + 8);
    }
    const content = Buffer.concat([Buffer.from('Exif\0\0', 'latin1'), tiff]);
    return Buffer.concat([Buffer.from([0xff, 0xe1, 0, content.length + 2]), content]);
  };

  test('is read in both orders of octets, and written again by itself', () => {
    for (const orientation of [1, 2, 3, 4, 5, 6, 7, 8])
      for (const order of ['II', 'MM'] as const) {
        expect(orientationOf(exif(order, orientation))).toBe(orientation);
        expect(orientationOf(orientationSegment(orientation))).toBe(orientation);
      }
    expect([4, 5].map(isOnItsSide)).toEqual([false, true]);
  });

  test('is none in segments that are cut off, say nonsense, or belong to something else', () => {
    const whole = exif('MM', 6);
    for (let length = 0; length < whole.length - 16; length++) {
      const read = orientationOf(whole.subarray(0, length));
      expect(read === null || read === 6).toBe(true);
    }
    for (const value of [0, 9, 65_535]) expect(orientationOf(exif('II', value))).toBeNull();
    expect(
      orientationOf(Buffer.from('\xff\xe1\0\x20http://ns.adobe.com/xap/1.0/\0<x>', 'latin1')),
    ).toBeNull();
  });
});

test('a picture is known by its content, and its file by its name', async () => {
  const gif = gifOf(SMALL);
  const read = await checkPicture(gif, { types: PICTURE_TYPES, mostPixels: MOST });
  if ('problem' in read) throw new Error(read.problem);
  expect(read).toMatchObject({ type: 'image/gif', ...SMALL });
  expect(read.file).toMatch(/^[0-9a-f]{64}\.gif$/);
  expect(typeOfFile(read.file)).toBe('image/gif');
  for (const name of ['x.gif', `${'0'.repeat(64)}.svg`, `${'0'.repeat(63)}.gif`, `../${read.file}`])
    expect(typeOfFile(name)).toBeNull();
  const others = [
    Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'),
    Buffer.from('%PDF-1.7'),
    Buffer.alloc(0),
  ];
  for (const other of others)
    expect(await checkPicture(other, { types: PICTURE_TYPES, mostPixels: MOST })).toEqual({
      problem: 'Must be a PNG, a JPEG, a GIF or a WebP.',
    });
  expect(await checkPicture(gif, { types: ['image/png', 'image/jpeg'], mostPixels: MOST })).toEqual({
    problem: 'Must be a PNG or a JPEG.',
  });
});
