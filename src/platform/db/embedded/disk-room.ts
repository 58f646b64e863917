import { statfsSync } from 'node:fs';

/**
 * Room that an embedded database leaves free: two segments of its log, of 16 MiB each. It makes the next
 * segment in the middle of a commit, and if that fails PostgreSQL ends (PANIC). The second one covers the
 * writes of others to the disk meanwhile.
 */
export const RESERVE = 33_554_432;
/** A look asks the file system, which may be far away: 10 microseconds here. */
const LOOK_EVERY_MS = 10;
/** Each write goes to a table and to the log. */
const TIMES_WRITTEN = 2;

/** A refusal for want of room, with the code that PostgreSQL has for it. */
export class NoRoom extends Error {
  override readonly name = 'NoRoom';
  readonly code = '53100';
}

/** The parts of `DiskRoom` that a test replaces, instead of filling a disk. */
interface DiskRoomParts {
  readonly free?: (directory: string) => number;
  readonly monotonic?: () => number;
}

/** The room on the disk of an embedded database, and whether it is so little that nothing may be written. */
export class DiskRoom {
  readonly #freeOn: (directory: string) => number;
  readonly #monotonic: () => number;
  #free = Number.POSITIVE_INFINITY;
  #lookedAt = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly directory: string,
    { free = freeOn, monotonic = () => performance.now() }: DiskRoomParts = {},
  ) {
    this.#freeOn = free;
    this.#monotonic = monotonic;
  }

  /** Tells whether less than the reserve is free. */
  isShort(): boolean {
    return this.#look() < RESERVE;
  }

  /** Tells whether these octets can be written, and the reserve be left. */
  takes(octets: number): boolean {
    return this.#look() >= RESERVE + TIMES_WRITTEN * octets;
  }

  refusal(): NoRoom {
    const free = Math.floor(this.#free / 1_048_576);
    return new NoRoom(
      `${free} MiB are free on the disk of ${this.directory}, and ${RESERVE / 1_048_576} MiB must stay free after each write: make room`,
    );
  }

  #look(): number {
    const now = this.#monotonic();
    if (now - this.#lookedAt < LOOK_EVERY_MS) return this.#free;
    this.#lookedAt = now;
    this.#free = this.#freeOn(this.directory);
    return this.#free;
  }
}

function freeOn(directory: string): number {
  const { bavail, bsize } = statfsSync(directory);
  return bavail * bsize;
}
