/**
 * Keeps a message while it arrives. Chunks are copied: a sender may write one octet at a time, and each would
 * be an object.
 */
export interface MessageBuffer {
  readonly octets: number;
  add(chunk: Buffer): void;
  clear(): void;
  message(): Buffer;
}

const BLOCK = 65_536;

/** Keeps the whole message. */
export class FullBuffer implements MessageBuffer {
  #blocks: Buffer[] = [];
  /** Octets in the last block. */
  #used = BLOCK;

  get octets(): number {
    return this.#blocks.length * BLOCK - (BLOCK - this.#used);
  }

  add(chunk: Buffer): void {
    for (let from = 0; from < chunk.length; ) {
      if (this.#used === BLOCK) {
        this.#blocks.push(Buffer.allocUnsafe(BLOCK));
        this.#used = 0;
      }
      const copied = chunk.copy(this.#blocks.at(-1) as Buffer, this.#used, from);
      this.#used += copied;
      from += copied;
    }
  }

  clear(): void {
    this.#blocks = [];
    this.#used = BLOCK;
  }

  message(): Buffer {
    return Buffer.concat(this.#blocks, this.octets);
  }
}

/** Octets that are kept of a message's beginning and end. */
export interface HeadTailLimits {
  readonly head: number;
  readonly tail: number;
}

/**
 * Keeps the beginning and the end of a report. Its machine-readable part comes before the returned message
 * (RFC 6522 3, RFC 5965 2), or after it in reports with another order. The omitted middle belongs to the
 * returned message, so that no line is lost that begins or ends a part.
 */
export class HeadTailBuffer implements MessageBuffer {
  readonly #head = new FullBuffer();
  /** A ring buffer. */
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
