import { describe, expect, test } from 'bun:test';
import { crc32, deflateSync } from 'node:zlib';
import { putLogo } from '../../src/accounts/workspace/logo/store-logo.ts';
import { isJpeg, readJpeg } from '../../src/platform/pictures/jpeg.ts';
import { isPng, readPng } from '../../src/platform/pictures/png.ts';

const MOST = 4_096;

const uint32 = (value: number) => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
};
const chunk = (type: string, data: Uint8Array = new Uint8Array()) => {
  const named = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  return Buffer.concat([uint32(data.length), named, uint32(crc32(named))]);
};
const SIGNATURE = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');
const header = (
  width: number,
  height: number,
  [depth, colour, interlace]: readonly [number, number, number],
) =>
  chunk(
    'IHDR',
    Buffer.concat([uint32(width), uint32(height), Buffer.from([depth, colour, 0, 0, interlace])]),
  );
const png = (...chunks: readonly Buffer[]) => Buffer.concat([SIGNATURE, ...chunks]);
const pixels = (octets: number) => chunk('IDAT', deflateSync(Buffer.alloc(octets)));
const END = chunk('IEND');
const HEAD = header(2, 3, [8, 2, 0]);
/** Two by three pixels of three octets, a filter before each row. */
const BODY = pixels(21);
const GOOD = png(HEAD, BODY, END);

const problemOf = async (bytes: Buffer): Promise<string | null> => {
  const read = isPng(bytes)
    ? await readPng(bytes, MOST)
    : isJpeg(bytes)
      ? readJpeg(bytes, MOST)
      : { problem: 'unknown' };
  return 'problem' in read ? read.problem : null;
};

describe('a PNG as logo', () => {
  test('is read in every colour type and depth, interlaced too, and at the largest size', async () => {
    const kinds = [
      [1, 0, 0, 6],
      [16, 0, 0, 15],
      [8, 2, 0, 21],
      [8, 4, 0, 15],
      [16, 6, 0, 51],
      // Adam7 of 2 by 3: one pixel in the passes 1 and 5, two rows of one in 6, a row of two in 7.
      [8, 0, 1, 2 + 2 + 4 + 3],
    ] as const;
    for (const [depth, colour, interlace, octets] of kinds) {
      const read = await readPng(png(header(2, 3, [depth, colour, interlace]), pixels(octets), END), MOST);
      expect(read).toMatchObject({ width: 2, height: 3 });
    }
    const wide = png(header(MOST, 1, [1, 0, 0]), pixels(1 + MOST / 8), END);
    expect(await problemOf(wide)).toBeNull();
    const palette = [chunk('PLTE', Buffer.alloc(6)), chunk('tRNS', Buffer.alloc(2))];
    expect(await problemOf(png(header(2, 3, [1, 3, 0]), ...palette, pixels(6), END))).toBeNull();
  });

  test('keeps what shows and loses what does not: texts, places, private chunks', async () => {
    const script = chunk('tEXt', Buffer.from('Comment\0<script>alert(1)</script>'));
    const read = await readPng(
      png(HEAD, script, chunk('eXIf', Buffer.from('place')), BODY, chunk('prVt'), END),
      MOST,
    );
    expect(Buffer.from((read as { content: Uint8Array }).content)).toEqual(GOOD);
  });

  const broken: readonly (readonly [string, Buffer, string])[] = [
    ['of nothing but its signature', SIGNATURE, 'damaged'],
    ['cut off in the middle', GOOD.subarray(0, 40), 'damaged'],
    ['cut off before its end', png(HEAD, BODY), 'damaged'],
    ['with html behind its end', Buffer.concat([GOOD, Buffer.from('<script>')]), 'after its end'],
    ['with a second picture behind its end', Buffer.concat([GOOD, GOOD]), 'after its end'],
    ['that is animated', png(HEAD, chunk('acTL', Buffer.alloc(8)), BODY, END), 'animated'],
    ['without pixels', png(HEAD, END), 'damaged'],
    ['with too few pixels', png(HEAD, pixels(20), END), 'damaged'],
    ['that inflates to more than it shows', png(HEAD, pixels(50_000_000), END), 'damaged'],
    ['whose pixels are no zlib stream', png(HEAD, chunk('IDAT', Buffer.from('nonsense')), END), 'damaged'],
    [
      'whose checksum is wrong',
      Buffer.concat([GOOD.subarray(0, -5), Buffer.from([0, 0xae, 0x42, 0x60, 0x82])]),
      'damaged',
    ],
    ['without a header', png(BODY, END), 'damaged'],
    ['with two headers', png(HEAD, HEAD, BODY, END), 'damaged'],
    ['with pixels in two runs', png(HEAD, BODY, chunk('pHYs'), BODY, END), 'damaged'],
    ['without its palette', png(header(2, 3, [8, 3, 0]), pixels(9), END), 'damaged'],
    [
      'with a palette of broken colours',
      png(header(2, 3, [8, 3, 0]), chunk('PLTE', Buffer.alloc(7)), pixels(9), END),
      'damaged',
    ],
    ['with an unknown critical chunk', png(HEAD, chunk('ABCD'), BODY, END), 'damaged'],
    ['of an impossible depth', png(header(2, 3, [3, 2, 0]), BODY, END), 'damaged'],
    ['of an impossible colour type', png(header(2, 3, [8, 5, 0]), BODY, END), 'damaged'],
    ['of no width', png(header(0, 3, [8, 2, 0]), BODY, END), 'damaged'],
    ['one pixel too wide', png(header(MOST + 1, 1, [1, 0, 0]), pixels(514), END), 'larger than 4096'],
    [
      'one pixel too high',
      png(header(1, MOST + 1, [1, 0, 0]), pixels(2 * (MOST + 1)), END),
      'larger than 4096',
    ],
    [
      'as wide as a header can say',
      png(header(0xffff_ffff, 0xffff_ffff, [16, 6, 1]), BODY, END),
      'larger than 4096',
    ],
    [
      'whose chunk says that it is endless',
      png(HEAD, uint32(0xffff_ffff), Buffer.from('IDAT'), END),
      'damaged',
    ],
    [
      'of ten thousand empty chunks',
      png(HEAD, ...Array.from({ length: 10_000 }, () => chunk('prVt')), BODY, END),
      'damaged',
    ],
  ];
  test.each(broken)('%s is refused', async (_, bytes, says) => {
    expect(await problemOf(bytes)).toContain(says);
  });

  test('is refused with any one bit turned', async () => {
    const turned = Array.from({ length: GOOD.length * 8 }, (_, bit) => {
      const bytes = Buffer.from(GOOD);
      bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      return problemOf(bytes);
    });
    expect((await Promise.all(turned)).filter((problem) => problem === null)).toEqual([]);
  });
});

const segment = (marker: number, data: Uint8Array | readonly number[]) => {
  const bytes = Buffer.from(data);
  return Buffer.concat([
    Buffer.from([0xff, marker, (bytes.length + 2) >> 8, (bytes.length + 2) & 0xff]),
    bytes,
  ]);
};
const START = Buffer.from([0xff, 0xd8]);
const STOP = Buffer.from([0xff, 0xd9]);
const frame = (marker: number, width: number, height: number, precision = 8) =>
  segment(marker, [precision, height >> 8, height & 0xff, width >> 8, width & 0xff, 1, 1, 0x11, 0]);
const TABLES = Buffer.concat([
  segment(0xdb, [0, ...Array<number>(64).fill(1)]),
  segment(0xc4, [0x00, 1, ...Array<number>(15).fill(0), 0]),
  segment(0xc4, [0x10, 1, ...Array<number>(15).fill(0), 0]),
]);
const SCAN = Buffer.concat([segment(0xda, [1, 1, 0, 0, 63, 0]), Buffer.from([0x3f])]);
const jpeg = (...parts: readonly Buffer[]) => Buffer.concat([START, ...parts]);
const PLAIN = jpeg(TABLES, frame(0xc0, 8, 8), SCAN, STOP);

describe('a JPEG as logo', () => {
  test('is read in every kind that mail programs show', async () => {
    for (const kind of [0xc0, 0xc1, 0xc2])
      expect(await problemOf(jpeg(TABLES, frame(kind, MOST, 8), SCAN, SCAN, STOP))).toBeNull();
    const stuffed = Buffer.concat([SCAN, Buffer.from([0xff, 0x00, 0xff, 0xd0, 0x3f])]);
    expect(await problemOf(jpeg(TABLES, frame(0xc0, 8, 8), stuffed, STOP))).toBeNull();
  });

  test('loses Exif, comments and thumbnails, and keeps its pixels byte by byte', () => {
    const extra = [
      segment(0xe1, Buffer.from('Exif\0\0place')),
      segment(0xfe, Buffer.from('<script>alert(1)</script>')),
      segment(0xe0, Buffer.concat([Buffer.from('JFIF\0'), Buffer.alloc(9 + 300)])),
    ];
    const read = readJpeg(jpeg(...extra, TABLES, frame(0xc0, 8, 8), SCAN, STOP), MOST);
    expect(Buffer.from((read as { content: Uint8Array }).content)).toEqual(PLAIN);
  });

  test.each([
    ['a second picture', Buffer.concat([PLAIN, PLAIN])],
    ['a second picture behind zeros', Buffer.concat([Buffer.alloc(64), PLAIN])],
    ['a film', Buffer.from('\0\0\0\x18ftypmp42\0\0\0\0', 'latin1')],
    ["a telephone's notes", Buffer.from('\0\0\x01\x0aImage_UTC_DataSEFH\0\0SEFT', 'latin1')],
    ['zeros', Buffer.alloc(3)],
  ])('loses %s that a camera appended', (_, rest) => {
    const read = readJpeg(Buffer.concat([PLAIN, rest]), MOST);
    expect(Buffer.from((read as { content: Uint8Array }).content)).toEqual(PLAIN);
  });

  test('keeps the orientation of Exif, and is as wide as it is shown', () => {
    const exif = Buffer.from(
      'Exif\0\0II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0\0\0\0\0',
      'latin1',
    );
    const read = readJpeg(jpeg(segment(0xe1, exif), TABLES, frame(0xc0, 16, 8), SCAN, STOP), MOST);
    expect(read).toMatchObject({ width: 8, height: 16 });
    const again = readJpeg(Buffer.from((read as { content: Uint8Array }).content), MOST);
    expect(again).toEqual(read);
  });

  const broken: readonly (readonly [string, Buffer, string])[] = [
    ['cut off in its scan', PLAIN.subarray(0, -2), 'damaged'],
    ['without a frame', jpeg(TABLES, SCAN, STOP), 'damaged'],
    ['without a scan', jpeg(TABLES, frame(0xc0, 8, 8), STOP), 'damaged'],
    ['with two frames', jpeg(frame(0xc0, 8, 8), frame(0xc0, 8, 8), SCAN, STOP), 'damaged'],
    ['with html behind its end', Buffer.concat([PLAIN, Buffer.from('<script>')]), 'after its end'],
    ['with an archive behind its end', Buffer.concat([PLAIN, Buffer.from('PK\x03\x04')]), 'after its end'],
    ['with arithmetic coding', jpeg(frame(0xc9, 8, 8), SCAN, STOP), 'baseline'],
    ['without loss', jpeg(frame(0xc3, 8, 8), SCAN, STOP), 'baseline'],
    ['of twelve bits', jpeg(frame(0xc1, 8, 8, 12), SCAN, STOP), 'baseline'],
    ['of a height that comes later', jpeg(frame(0xc0, 8, 0), SCAN, STOP), 'damaged'],
    ['one pixel too wide', jpeg(frame(0xc0, MOST + 1, 8), SCAN, STOP), 'larger than 4096'],
    ['one pixel too high', jpeg(frame(0xc0, 8, MOST + 1), SCAN, STOP), 'larger than 4096'],
    ['with a segment shorter than its length', jpeg(Buffer.from([0xff, 0xe1, 0, 1]), SCAN, STOP), 'damaged'],
    ['with a segment longer than the file', jpeg(Buffer.from([0xff, 0xe1, 0xff, 0xff]), STOP), 'damaged'],
    ['of empty segments', jpeg(...Array.from({ length: 200_000 }, () => segment(0xfe, [])), STOP), 'damaged'],
    ['of fill bytes', jpeg(Buffer.alloc(1_000_000, 0xff)), 'damaged'],
  ];
  test.each(broken)('%s is refused', async (_, bytes, says) => {
    expect(await problemOf(bytes)).toContain(says);
  });
});

test.each([
  ['GIF', Buffer.from('GIF89a')],
  ['SVG', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>')],
  ['WebP', Buffer.from('RIFF\0\0\0\0WEBP')],
  ['nothing', Buffer.alloc(0)],
  ['a picture behind a script', Buffer.concat([Buffer.from('<script>'), GOOD])],
])('%s is no logo', async (_, bytes) => {
  expect(await problemOf(bytes)).toBe('unknown');
});

test('reads one logo at a time: twenty wait, and one more is asked to come again', async () => {
  const database = { query: async () => [] } as unknown as Parameters<typeof putLogo>[0];
  const caller = { workspaceId: 'ws_1' } as Parameters<typeof putLogo>[1];
  const logo = png(HEAD, pixels(3 * (1 + 2 * 3)), END);
  const told = await Promise.allSettled(Array.from({ length: 22 }, () => putLogo(database, caller, logo, 0)));
  expect(told.filter(({ status }) => status === 'fulfilled')).toHaveLength(21);
  expect(told.at(-1)).toMatchObject({ status: 'rejected', reason: { name: 'Unavailable' } });
  expect(await putLogo(database, caller, logo, 0)).toBeNull();
});
