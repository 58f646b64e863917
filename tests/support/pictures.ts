/** Frames of one colour; `sizes` are their widths and heights in pixels. */
interface GifParts {
  readonly width: number;
  readonly height: number;
  readonly frames?: number;
  /** Blocks before the first frame. */
  readonly before?: Buffer;
}

const uint16 = (value: number): Buffer => {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16LE(value);
  return bytes;
};

/** An extension of a GIF with one sub-block a text. */
export const gifExtension = (label: number, ...blocks: readonly string[]): Buffer =>
  Buffer.concat([
    Buffer.from([0x21, label]),
    ...blocks.flatMap((text) => [Buffer.from([text.length]), Buffer.from(text, 'latin1')]),
    Buffer.from([0]),
  ]);

/** A GIF89a with two colours. The pixels are not all there: readers of its structure do not decode them. */
export function gifOf({ width, height, frames = 1, before = Buffer.alloc(0) }: GifParts): Buffer {
  const size = Buffer.concat([uint16(width), uint16(height)]);
  const frame = Buffer.concat([
    Buffer.from([0x2c, 0, 0, 0, 0]),
    size,
    // No local colour table; codes of two bits; one sub-block.
    Buffer.from([0, 2, 2, 0x44, 0x01, 0]),
  ]);
  return Buffer.concat([
    Buffer.from('GIF89a', 'latin1'),
    size,
    // A global table of two colours.
    Buffer.from([0x80, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff]),
    before,
    ...Array.from({ length: frames }, () => frame),
    Buffer.from([0x3b]),
  ]);
}

/** A chunk of a WebP, padded to even octets. */
export function webpChunk(name: string, data: Uint8Array): Buffer {
  const head = Buffer.alloc(8);
  head.write(name, 0, 'latin1');
  head.writeUInt32LE(data.length, 4);
  return Buffer.concat([head, data, Buffer.alloc(data.length % 2)]);
}

/** A WebP of these chunks. */
export function webpOf(...chunks: readonly Buffer[]): Buffer {
  const head = Buffer.alloc(12);
  head.write('RIFF', 0, 'latin1');
  head.writeUInt32LE(4 + chunks.reduce((sum, { length }) => sum + length, 0), 4);
  head.write('WEBP', 8, 'latin1');
  return Buffer.concat([head, ...chunks]);
}

/** A lossless picture, as far as its head says. */
export function vp8l(width: number, height: number): Buffer {
  const data = Buffer.alloc(6);
  data[0] = 0x2f;
  data.writeUInt32LE(((width - 1) | ((height - 1) << 14)) >>> 0, 1);
  return webpChunk('VP8L', data);
}

/** The head of a canvas; flags: 0x02 animation, 0x04 XMP, 0x08 Exif, 0x10 alpha, 0x20 profile. */
export function vp8x(flags: number, width: number, height: number): Buffer {
  const data = Buffer.alloc(10);
  data[0] = flags;
  data.writeUIntLE(width - 1, 4, 3);
  data.writeUIntLE(height - 1, 7, 3);
  return webpChunk('VP8X', data);
}

/** A frame of an animation at the upper left corner. */
export function anmf(width: number, height: number, picture: Buffer): Buffer {
  const head = Buffer.alloc(16);
  head.writeUIntLE(width - 1, 6, 3);
  head.writeUIntLE(height - 1, 9, 3);
  return webpChunk('ANMF', Buffer.concat([head, picture]));
}
