import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { type FileHandle, lstat, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { syncEntry } from '../../platform/db/embedded/synced-files.ts';
import { FORMAT, FRAME_HEAD, MARK, numberOf, packed } from './frames.ts';
import type { Part } from './parts.ts';
import { readFrames } from './read-file.ts';
import { asRefused, BackupRefused } from './refused.ts';
import { type FrameSeal, frameSeal, newLock } from './seal.ts';

export interface WriteOptions {
  /** Encrypts the file; null leaves it readable. */
  readonly passphrase: string | null;
  /** The cost of one guess of the passphrase; tests take less than the default. */
  readonly cost?: number | undefined;
  /** Called with the bytes that have been written so far. */
  readonly onWritten?: (bytes: number) => void;
}

/**
 * Writes a backup to a file that does not exist yet and that only its owner may read. It appears under its
 * name when it is whole, durable and has been read back; what fails leaves nothing. @throws BackupRefused.
 * Answers its length.
 */
export async function writeBackup(
  path: string,
  parts: AsyncIterable<Part>,
  { passphrase, cost, onWritten = () => {} }: WriteOptions,
): Promise<number> {
  if (existsSync(path)) throw new BackupRefused(`${path} exists already. Name a file that does not.`);
  const aside = `${path}.part`;
  let file: FileHandle | null = null;
  try {
    file = await openAnew(aside);
    const writer = new FrameWriter(file, passphrase, cost);
    await writer.begin();
    for await (const part of parts) onWritten(await writer.add(part));
    await file.sync();
    // A disk that loses data, or another process that writes to the same file, shows now and not on the day
    // that the backup is needed.
    for await (const _ of readFrames(aside, passphrase));
    await seeThatItIsOurs(aside, file);
    await file.close();
    file = null;
    await rename(aside, path);
    await syncEntry(dirname(path));
    return writer.bytes;
  } catch (error) {
    await file?.close().catch(() => {});
    await rm(aside, { force: true }).catch(() => {});
    throw asRefused(path, error);
  }
}

/**
 * Makes a new file, and refuses an existing one: one of a backup that was killed, or of an attacker who waits
 * in a folder that is open to all, would keep its owner and its mode, and a link would lead elsewhere.
 */
async function openAnew(path: string): Promise<FileHandle> {
  await rm(path, { force: true });
  return open(path, 'wx', 0o600);
}

/**
 * Another backup into the same file may have begun meanwhile: what has the name then is not whole. @throws
 * BackupRefused
 */
async function seeThatItIsOurs(path: string, file: FileHandle): Promise<void> {
  const [named, own] = await Promise.all([lstat(path), file.stat()]);
  if (named.ino !== own.ino || named.dev !== own.dev)
    throw new BackupRefused(`Another backup is written to ${path} at the same time. Name another file.`);
}

class FrameWriter {
  bytes = 0;
  readonly #preface: Buffer;
  readonly #seal: FrameSeal;

  constructor(
    private readonly file: FileHandle,
    passphrase: string | null,
    cost: number | undefined,
  ) {
    const { lock, key } = passphrase === null ? { lock: null, key: null } : newLock(passphrase, cost);
    this.#preface = Buffer.from(JSON.stringify({ format: FORMAT, lock }));
    this.#seal = frameSeal(createHash('sha256').update(this.#preface).digest(), key);
  }

  async begin(): Promise<void> {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(this.#preface.length);
    await this.#write(Buffer.concat([MARK, length, this.#preface]));
  }

  async add(part: Part): Promise<number> {
    const number = numberOf(part.kind);
    const body = this.#seal.seal(number, await packed(part));
    const head = Buffer.alloc(FRAME_HEAD);
    head.writeUInt8(number);
    head.writeUInt32BE(body.length, 1);
    await this.#write(Buffer.concat([head, body]));
    return this.bytes;
  }

  async #write(bytes: Uint8Array): Promise<void> {
    // A write may take a part of it only, as it does shortly before a disk is full.
    for (let from = 0; from < bytes.length; )
      from += (await this.file.write(bytes, from, bytes.length - from)).bytesWritten;
    this.bytes += bytes.length;
  }
}
