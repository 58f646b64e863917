import { closeSync, fdatasyncSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';

const SEGMENT = 16 * 1_048_576;
const SEGMENTS = 24;

/** Octets a second that a disk takes in files such as the WAL's, each flushed. */
export function writtenPerSecond(folder: string): number {
  const path = join(folder, 'written-by-bench');
  // Zeros could be left out by whatever lies under the file system.
  const segment = crypto.getRandomValues(new Uint8Array(65_536));
  const file = openSync(path, 'w');
  try {
    const begun = performance.now();
    for (let n = 0; n < SEGMENTS; n++) {
      for (let at = 0; at < SEGMENT; at += segment.length) writeSync(file, segment);
      fdatasyncSync(file);
    }
    return (SEGMENTS * SEGMENT * 1_000) / (performance.now() - begun);
  } finally {
    closeSync(file);
    rmSync(path);
  }
}
