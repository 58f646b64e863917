import { existsSync, mkdirSync, renameSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants } from 'node:zlib';
import type { FilePack, PackedFile } from '../../src/web/dashboard/pack.ts';

const DIST = resolve(import.meta.dir, '../../src/web/dashboard/dist');

/** A short hash, for names of files. */
export const hashOf = (bytes: Uint8Array): string => Bun.hash(bytes).toString(36);

const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } };

/**
 * Compresses a file, as well as can be: it is done once and sent often. Threads do it, so that files are
 * compressed side by side.
 */
export async function packed(type: string, bytes: Uint8Array | string): Promise<PackedFile> {
  const brotli = await promisify(brotliCompress)(bytes, BROTLI);
  return { type, brotli: brotli.toString('base64') };
}

/** A file by its name, before it is compressed: its type, and its contents. */
export type PlainFile = readonly [name: string, type: string, contents: Uint8Array];

/** Compresses files. */
export const packedFiles = async (files: readonly PlainFile[]): Promise<FilePack['files']> =>
  Object.fromEntries(
    await Promise.all(
      files.map(async ([name, type, contents]) => [name, await packed(type, contents)] as const),
    ),
  );

/** The kilobytes of brotli that a browser loads for these files of a pack. */
export const kilobytesOf = ({ files }: FilePack, names: Iterable<string>): number =>
  [...names].reduce((sum, name) => sum + Buffer.from(files[name]?.brotli ?? '', 'base64').length, 0) / 1_000;

/** Writes a pack. It is written aside first: two services that start together must not read half of it. */
export const writePack = (name: string, pack: FilePack): Promise<void> => writeWhole(name, pack);

async function writeWhole(name: string, value: unknown): Promise<void> {
  mkdirSync(DIST, { recursive: true });
  const aside = join(DIST, `${process.pid}.${name}`);
  await Bun.write(aside, JSON.stringify(value));
  renameSync(aside, join(DIST, name));
}

/** The JSON of that name; the first caller makes it. */
export async function keptFile(name: string, make: () => Promise<unknown>): Promise<unknown> {
  const path = join(DIST, name);
  if (!existsSync(path)) await writeWhole(name, await make());
  return Bun.file(path).json();
}
