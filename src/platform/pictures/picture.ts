import { Semaphore } from '../async/semaphore.ts';
import { UnavailableError } from '../errors/unavailable.ts';
import { isGif, readGif } from './gif.ts';
import { isJpeg, readJpeg } from './jpeg.ts';
import type { PictureResult } from './picture-result.ts';
import { isPng, readPng } from './png.ts';
import { isWebp, readWebp } from './webp.ts';

/** The formats of images, with the ending of their files. */
export const PICTURE_FORMATS = {
  'image/png': { name: 'PNG', suffix: 'png', is: isPng, read: readPng },
  'image/jpeg': { name: 'JPEG', suffix: 'jpg', is: isJpeg, read: readJpeg },
  'image/gif': { name: 'GIF', suffix: 'gif', is: isGif, read: readGif },
  'image/webp': { name: 'WebP', suffix: 'webp', is: isWebp, read: readWebp },
} as const satisfies Readonly<
  Record<
    string,
    {
      readonly name: string;
      readonly suffix: string;
      readonly is: (bytes: Buffer) => boolean;
      readonly read: (bytes: Buffer, mostPixels: number) => PictureResult | Promise<PictureResult>;
    }
  >
>;

export type PictureType = keyof typeof PICTURE_FORMATS;

export const PICTURE_TYPES = Object.keys(PICTURE_FORMATS) as readonly PictureType[];

/**
 * An image that may be stored. `file` is named by the hash of its content, so that the content of an address
 * never changes.
 */
export interface CheckedPicture {
  readonly type: PictureType;
  readonly file: string;
  readonly width: number;
  readonly height: number;
  readonly content: Uint8Array<ArrayBuffer>;
}

/**
 * The pixels of a PNG of a few kilobytes may take a fifth of a second to count (134 MB), and those of the
 * largest a second. So one image is read at a time, and few wait.
 */
const room = new Semaphore(1, undefined, 20);

/** Checks an image by its content, whatever its name says. @throws UnavailableError where too many wait */
export async function checkPicture(
  sent: Uint8Array,
  { types, mostPixels }: { readonly types: readonly PictureType[]; readonly mostPixels: number },
): Promise<CheckedPicture | { readonly problem: string }> {
  const bytes = Buffer.from(sent.buffer, sent.byteOffset, sent.byteLength);
  const type = types.find((each) => PICTURE_FORMATS[each].is(bytes));
  if (type === undefined) return { problem: `Must be a ${oneOf(types)}.` };
  if (!(await room.take())) throw new UnavailableError('Too many images are being read at once.');
  try {
    const read = await PICTURE_FORMATS[type].read(bytes, mostPixels);
    if ('problem' in read) return read;
    const hash = new Bun.CryptoHasher('sha256').update(read.content).digest('hex');
    return { ...read, type, file: `${hash}.${PICTURE_FORMATS[type].suffix}` };
  } finally {
    room.release();
  }
}

const oneOf = (types: readonly PictureType[]): string =>
  types
    .map((type) => PICTURE_FORMATS[type].name)
    .join(', ')
    .replace(/, (\S+)$/, ' or a $1')
    .replaceAll(', ', ', a ');

/** The media type of a file that `checkPicture` named; null for any other name. */
export function typeOfFile(file: string): PictureType | null {
  const [, suffix] = /^[0-9a-f]{64}\.([a-z]+)$/.exec(file) ?? [];
  return PICTURE_TYPES.find((type) => PICTURE_FORMATS[type].suffix === suffix) ?? null;
}
