import { storableText } from '../../../db/storable.ts';

/** How much of a receiver's reply is kept, in UTF-16 units, so that no language counts more. */
export const REPLY_MAX_LENGTH = 1000;

/** UTF-8 spends at most three bytes on a UTF-16 unit; the byte order mark counts for none. */
const ENOUGH_BYTES = 3 * (REPLY_MAX_LENGTH + 1);

/** Gathers the beginning of a reply and says when it has enough, so that an endless body costs nothing. */
export class ResponseHead {
  readonly #chunks: Uint8Array[] = [];
  #length = 0;

  /** Whether more bytes can no longer change the text. */
  get isFull(): boolean {
    return this.#length >= ENOUGH_BYTES;
  }

  add(chunk: Uint8Array): void {
    if (this.isFull) return;
    const wanted = chunk.subarray(0, ENOUGH_BYTES - this.#length);
    this.#chunks.push(wanted);
    this.#length += wanted.length;
  }

  /** The first characters, read as UTF-8 whatever was declared; bytes that are not UTF-8 show as U+FFFD. Always storable. */
  text(): string {
    return storableText(new TextDecoder().decode(Buffer.concat(this.#chunks)), REPLY_MAX_LENGTH);
  }
}
