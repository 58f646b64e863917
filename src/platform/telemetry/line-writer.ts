import { writeSync } from 'node:fs';

/** The wait for the reader of a pipe that takes nothing at the moment. */
const READER_MS = 20;
const never = new Int32Array(new SharedArrayBuffer(4));

/**
 * Writes lines to a file descriptor, each before it returns. A line that cannot be written is lost: a full
 * disk, or a reader that has gone, must not fail what was logged. pino's own destination throws then, out of
 * whatever was logging: requests became 500.
 */
export function lineWriter(fd: number): { write(line: string): void } {
  let isCut = false;
  return {
    write(line) {
      let rest = Buffer.from(isCut ? `\n${line}` : line);
      const length = rest.length;
      while (rest.length > 0) {
        try {
          rest = rest.subarray(writeSync(fd, rest));
        } catch (error) {
          if (!(error instanceof Error && 'code' in error && error.code === 'EAGAIN')) break;
          Atomics.wait(never, 0, 0, READER_MS);
        }
      }
      if (rest.length < length) isCut = rest.length > 0;
    },
  };
}
