/**
 * The encoding of a stored file: UTF-16 is turned into UTF-8 as it arrives, so two are left. Both keep ASCII
 * as single bytes.
 */
export type StoredEncoding = 'utf-8' | 'windows-1252';

/** The detected encoding of a file's bytes. */
export interface DetectedEncoding {
  /** The encoding of the file as it was sent. */
  readonly encoding: 'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1252';
  readonly stored: StoredEncoding;
}

/** The file begins with the mark of an encoding that its bytes do not follow. */
export class BrokenEncoding extends Error {
  constructor(readonly encoding: string) {
    super(`The file says that it is ${encoding}, but some of its bytes are not.`);
  }
}

type Mode = 'unknown' | 'bytes' | 'utf-16le' | 'utf-16be';

/**
 * Detects the encoding of a file while it arrives, and yields the bytes to store, without a byte order mark.
 * A mark decides; without one a NUL beside the first character means UTF-16, bytes that are valid UTF-8 to
 * the end are UTF-8, and all others Windows-1252, in which every byte is a character.
 */
export class EncodingDetector {
  #mode: Mode = 'unknown';
  #hasMark = false;
  #begun: Uint8Array = new Uint8Array();
  #utf8: TextDecoder | null = new TextDecoder('utf-8', { fatal: true });
  #utf16: TextDecoder | null = null;

  /** The bytes to store for these. @throws BrokenEncoding */
  take(chunk: Uint8Array): Uint8Array {
    if (this.#mode !== 'unknown') return this.#convert(chunk);
    this.#begun = this.#begun.length === 0 ? chunk : Buffer.concat([this.#begun, chunk]);
    return this.#begun.length < 3 ? new Uint8Array() : this.#begin();
  }

  /** The last bytes to store, and what the file was. @throws BrokenEncoding */
  end(): DetectedEncoding & { readonly rest: Uint8Array } {
    const begun = this.#mode === 'unknown' ? this.#begin() : new Uint8Array();
    if (this.#utf16) {
      const rest = Buffer.concat([begun, Buffer.from(this.#decoded(this.#utf16, new Uint8Array(), false))]);
      return { encoding: this.#mode as 'utf-16le' | 'utf-16be', stored: 'utf-8', rest };
    }
    this.#check(new Uint8Array(), false);
    const encoding = this.#utf8 ? 'utf-8' : 'windows-1252';
    return { encoding, stored: encoding, rest: begun };
  }

  #begin(): Uint8Array {
    const [first, second, third] = this.#begun;
    const begun = this.#begun;
    this.#begun = new Uint8Array();
    if (first === 0xef && second === 0xbb && third === 0xbf) {
      this.#mode = 'bytes';
      this.#hasMark = true;
      return this.#convert(begun.subarray(3));
    }
    const isLittle = (first === 0xff && second === 0xfe) || (first !== 0 && second === 0);
    const isBig = (first === 0xfe && second === 0xff) || (first === 0 && second !== 0 && begun.length > 1);
    if (!isLittle && !isBig) {
      this.#mode = 'bytes';
      return this.#convert(begun);
    }
    this.#mode = isLittle ? 'utf-16le' : 'utf-16be';
    // The decoder drops the byte order mark itself.
    this.#utf16 = new TextDecoder(this.#mode, { fatal: true });
    return this.#convert(begun);
  }

  #convert(chunk: Uint8Array): Uint8Array {
    if (this.#utf16) return Buffer.from(this.#decoded(this.#utf16, chunk, true));
    this.#check(chunk, true);
    return chunk;
  }

  #check(chunk: Uint8Array, stream: boolean): void {
    if (!this.#utf8) return;
    try {
      this.#utf8.decode(chunk, { stream });
    } catch {
      this.#utf8 = null;
      if (this.#hasMark) throw new BrokenEncoding('UTF-8');
    }
  }

  #decoded(decoder: TextDecoder, chunk: Uint8Array, stream: boolean): string {
    try {
      return decoder.decode(chunk, { stream });
    } catch {
      throw new BrokenEncoding('UTF-16');
    }
  }
}
