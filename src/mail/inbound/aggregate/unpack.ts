import { gunzipSync } from 'node:zlib';
import { unzipSync } from 'fflate';

/** The limits of what a compressed file may become. */
export interface UnpackLimits {
  /** Octets of the content. */
  readonly octets: number;
  /** The factor by which the content may be larger, beyond the first mebibyte. Large XML reports reach 40. */
  readonly ratio: number;
  /** Files in a zip archive. */
  readonly entries: number;
}

export const UNPACK_LIMITS: UnpackLimits = { octets: 20 * 1_048_576, ratio: 200, entries: 10 };

const SMALL = 1_048_576;

/**
 * The content of a file: that of a gzip file, that of the first file in a zip archive, or the file itself,
 * whatever it calls itself. Null where it is damaged or exceeds a limit. An archive within an archive stays
 * closed.
 */
export function unpack(file: Uint8Array, limits: UnpackLimits = UNPACK_LIMITS): Uint8Array | null {
  const most = Math.min(limits.octets, Math.max(SMALL, file.byteLength * limits.ratio));
  try {
    if (file[0] === 0x1f && file[1] === 0x8b)
      return gunzipSync(withoutLineEnd(file), { maxOutputLength: most });
    if (file[0] === 0x50 && file[1] === 0x4b) return firstEntry(file, most, limits.entries);
    return file.byteLength <= limits.octets ? file : null;
  } catch {
    return null;
  }
}

/**
 * Mimecast writes a line end behind the gzip data. gzip(1) ignores it, and Bun refuses the file. The last
 * octet of the data belongs to the size of the content (RFC 1952 2.3.1), and is 0 or 1 within the limit.
 */
function withoutLineEnd(file: Uint8Array): Uint8Array {
  let end = file.byteLength;
  while (file[end - 1] === 0x0a || file[end - 1] === 0x0d) end--;
  return file.subarray(0, end);
}

/**
 * fflate writes into a buffer of the size that the archive states, so that a false size yields less and never
 * more.
 */
function firstEntry(archive: Uint8Array, most: number, entries: number): Uint8Array | null {
  let seen = 0;
  let isTaken = false;
  const files = unzipSync(archive, {
    filter: ({ name, originalSize }) => {
      seen++;
      if (isTaken || name.endsWith('/') || originalSize > most) return false;
      isTaken = true;
      return true;
    },
  });
  const [content] = Object.values(files);
  return seen > entries || content === undefined ? null : content;
}
