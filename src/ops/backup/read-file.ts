import { createHash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import { FORMAT, FRAME_HEAD, kindOf, LONGEST_PREFACE, MARK, OLDEST_FORMAT, unpacked } from './frames.ts';
import type { Header, Part } from './parts.ts';
import { asRefused, BackupRefused } from './refused.ts';
import { frameSeal, isLock, keyOf, type Lock } from './seal.ts';

/** A frame whose seal has been found whole; its body is still compressed. */
interface Frame {
  readonly kind: Part['kind'];
  readonly body: Uint8Array;
  /** The part of the file that has been read, from 0 to 1. */
  readonly share: number;
}

const torn = (path: string, why: string): BackupRefused =>
  new BackupRefused(`${path} is damaged: ${why}. Take another backup of it.`);

/**
 * Reads the frames of a file in bounded memory, and checks each. @throws BackupRefused for a file that is not
 * whole, or locked otherwise
 */
export async function* readFrames(path: string, passphrase: string | null): AsyncGenerator<Frame> {
  const file = await open(path, 'r').catch((error) => {
    throw asRefused(path, error);
  });
  try {
    const { size } = await file.stat();
    const reader = new Reader(file, path, size);
    const { lock, digest } = await readPreface(reader, path);
    if (lock !== null && passphrase === null)
      throw new BackupRefused(
        `${path} is encrypted: give its passphrase with --passphrase-file or BACKUP_PASSPHRASE.`,
      );
    const seal = frameSeal(digest, lock === null || passphrase === null ? null : keyOf(lock, passphrase));
    let last: Part['kind'] | null = null;
    while (reader.at < size) {
      const head = await reader.take(FRAME_HEAD);
      const number = head.readUInt8();
      const kind = kindOf(number);
      const begin = reader.at;
      const body = seal.open(number, await reader.take(head.readUInt32BE(1)));
      if (body === null || kind === undefined) throw torn(path, `the data at byte ${begin} has changed`);
      if (last === 'trailer' || (last === null) !== (kind === 'header'))
        throw torn(path, 'its parts are out of order');
      last = kind;
      yield { kind, body, share: reader.at / size };
    }
    if (last !== 'trailer') throw torn(path, 'it is cut off');
  } catch (error) {
    throw asRefused(path, error);
  } finally {
    await file.close();
  }
}

/** Reads the parts of a file. `onShare` gets the part that has been read. @throws BackupRefused */
export async function* readBackup(
  path: string,
  passphrase: string | null,
  onShare: (share: number) => void = () => {},
): AsyncGenerator<Part> {
  for await (const { kind, body, share } of readFrames(path, passphrase)) {
    yield await unpacked(kind, body);
    onShare(share);
  }
}

/** Reads what a file begins with, and nothing else. @throws BackupRefused */
export async function readHeader(path: string, passphrase: string | null): Promise<Header> {
  for await (const part of readBackup(path, passphrase)) if (part.kind === 'header') return part.header;
  throw torn(path, 'it is empty');
}

/** True when a file is a backup that takes a passphrase. @throws BackupRefused when it is no backup */
export async function isEncrypted(path: string): Promise<boolean> {
  const file = await open(path, 'r').catch((error) => {
    throw asRefused(path, error);
  });
  try {
    const { size } = await file.stat();
    return (await readPreface(new Reader(file, path, size), path)).lock !== null;
  } catch (error) {
    throw asRefused(path, error);
  } finally {
    await file.close();
  }
}

async function readPreface(
  reader: Reader,
  path: string,
): Promise<{ readonly lock: Lock | null; readonly digest: Buffer }> {
  const none = new BackupRefused(`${path} is not a backup of Posthorn.`);
  if (reader.size < MARK.length + 4 || !(await reader.take(MARK.length)).equals(MARK)) throw none;
  const length = (await reader.take(4)).readUInt32BE();
  if (length > LONGEST_PREFACE) throw none;
  const preface = await reader.take(length);
  const { format, lock } = read(preface) ?? {};
  if (typeof format === 'number' && format > FORMAT)
    throw new BackupRefused(`${path} was made by a newer version of Posthorn. Restore it with that one.`);
  if (typeof format !== 'number' || format < OLDEST_FORMAT || (lock !== null && !isLock(lock)))
    throw torn(path, 'its preface cannot be read');
  return { lock, digest: createHash('sha256').update(preface).digest() };
}

const read = (preface: Buffer): { format?: unknown; lock?: unknown } | null => {
  try {
    return JSON.parse(preface.toString('utf8')) as { format?: unknown; lock?: unknown };
  } catch {
    return null;
  }
};

/** Reads a file from its beginning to its end. */
class Reader {
  at = 0;

  constructor(
    private readonly file: FileHandle,
    private readonly path: string,
    readonly size: number,
  ) {}

  async take(length: number): Promise<Buffer> {
    // Asked before anything is made: a torn length may be that of four gigabytes.
    if (length > this.size - this.at) throw torn(this.path, 'it is cut off');
    const bytes = Buffer.allocUnsafe(length);
    for (let from = 0; from < length; ) {
      const { bytesRead } = await this.file.read(bytes, from, length - from, this.at + from);
      if (bytesRead === 0) throw torn(this.path, 'it is cut off');
      from += bytesRead;
    }
    this.at += length;
    return bytes;
  }
}
