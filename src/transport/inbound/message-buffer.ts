/** What is kept of a message while it arrives. It is copied: a sender may write an octet at a time, and each would be an object. */
export interface MessageBuffer {
  readonly octets: number;
  add(chunk: Buffer): void;
  clear(): void;
  message(): Buffer;
}

const BLOCK = 65_536;

/** All of it. */
export class FullBuffer implements MessageBuffer {
  #blocks: Buffer[] = [];
  /** Octets of the last block that are taken. */
  #taken = BLOCK;

  get octets(): number {
    return this.#blocks.length * BLOCK - (BLOCK - this.#taken);
  }

  add(chunk: Buffer): void {
    for (let from = 0; from < chunk.length; ) {
      if (this.#taken === BLOCK) {
        this.#blocks.push(Buffer.allocUnsafe(BLOCK));
        this.#taken = 0;
      }
      const copied = chunk.copy(this.#blocks.at(-1) as Buffer, this.#taken, from);
      this.#taken += copied;
      from += copied;
    }
  }

  clear(): void {
    this.#blocks = [];
    this.#taken = BLOCK;
  }

  message(): Buffer {
    return Buffer.concat(this.#blocks, this.octets);
  }
}

/** How much of a message is kept. */
export interface HeadTailLimits {
  readonly head: number;
  readonly tail: number;
}

/**
 * The beginning and the end. What a report is about, and its own part for machines, come before the message that it returns
 * (RFC 6522 3, RFC 5965 2); where somebody has put the message first, they come after it. What lies between is the middle of
 * that message: leaving it out takes no line away that begins or ends a part.
 */
export class HeadTailBuffer implements MessageBuffer {
  readonly #head = new FullBuffer();
  /** A ring, written from its beginning again when it is full. */
  #tail: Buffer = Buffer.alloc(0);
  #beyond = 0;

  constructor(private readonly most: HeadTailLimits) {}

  get octets(): number {
    return this.#head.octets + Math.min(this.#beyond, this.most.tail);
  }

  add(chunk: Buffer): void {
    const fits = Math.min(chunk.length, this.most.head - this.#head.octets);
    this.#head.add(chunk.subarray(0, fits));
    if (fits === chunk.length) return;
    if (this.#tail.length === 0) this.#tail = Buffer.allocUnsafe(this.most.tail);
    for (let from = fits; from < chunk.length; ) {
      const copied = chunk.copy(this.#tail, this.#beyond % this.most.tail, from);
      this.#beyond += copied;
      from += copied;
    }
  }

  clear(): void {
    this.#head.clear();
    this.#tail = Buffer.alloc(0);
    this.#beyond = 0;
  }

  message(): Buffer {
    const head = this.#head.message();
    if (this.#beyond <= this.most.tail) return Buffer.concat([head, this.#tail.subarray(0, this.#beyond)]);
    const oldest = this.#beyond % this.most.tail;
    return Buffer.concat([head, CUT, this.#tail.subarray(oldest), this.#tail.subarray(0, oldest)]);
  }
}

const CUT = Buffer.from('\r\n');
