import { storableText } from '../../../platform/db/storable.ts';

/**
 * UTF-16 units of a reply that are stored; counting bytes would store less of some languages than of others.
 */
export const REPLY_MAX_LENGTH = 1000;

/** UTF-8 uses at most three bytes for a UTF-16 unit; one more unit is for the byte order mark. */
const ENOUGH_BYTES = 3 * (REPLY_MAX_LENGTH + 1);

const UTF_8 = new TextDecoder();

/** Collects the beginning of a reply and reports when it is full, so that an endless body costs nothing. */
export class ResponseHead {
  readonly #chunks: Uint8Array[] = [];
  #length = 0;

  /** True when more bytes cannot change the text any more. */
  get isFull(): boolean {
    return this.#length >= ENOUGH_BYTES;
  }

  add(chunk: Uint8Array): void {
    if (this.isFull) return;
    const left = ENOUGH_BYTES - this.#length;
    const wanted = chunk.length > left ? chunk.subarray(0, left) : chunk;
    this.#chunks.push(wanted);
    this.#length += wanted.length;
  }

  /**
   * The first characters, decoded as UTF-8 whatever charset was declared. Invalid bytes become U+FFFD, so
   * that the text can always be stored.
   */
  text(): string {
    const [first, ...others] = this.#chunks;
    if (first === undefined) return '';
    const octets = others.length > 0 ? Buffer.concat(this.#chunks) : first;
    return storableText(UTF_8.decode(octets), REPLY_MAX_LENGTH);
  }
}
