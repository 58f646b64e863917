import { mock } from 'bun:test';
import { existsSync, renameSync } from 'node:fs';
import { embeddedImage } from './embedded.ts';

/** Has this process make new embedded databases of a packed directory, as the executable does. */
export async function bringPreparedDirectory(): Promise<void> {
  const image = await embeddedImage();
  const packed = `${image}.zst`;
  if (!existsSync(packed)) {
    const aside = `${packed}.${process.pid}`;
    await Bun.write(aside, Bun.zstdCompressSync(await Bun.file(image).bytes(), { level: 1 }));
    renameSync(aside, packed);
  }
  await mock.module('../../src/platform/db/server/prepared.ts', () => ({ preparedDataDirectory: packed }));
}
