import { framingOf, isField } from './response-fields.ts';
import { ResponseHead } from './response-head.ts';

/**
 * Most 1xx responses before the final one. A receiver that floods them is cut off instead of being read for
 * ten seconds.
 */
const INTERIM_MAX = 16;
/** Octets of a response's header section, or of its trailers. */
const HEADER_MAX_BYTES = 16_384;
/** Octets of a chunk's first line with its extensions, which mean nothing to us. */
const CHUNK_LINE_MAX_BYTES = 1_024;

/** The progress of a response after some octets: `full` when no more of its body would be stored. */
export type ReadState = 'more' | 'full' | 'complete' | 'malformed';

/** The parts of a response in which the next octets may lie. */
type Part = 'head' | 'sized' | 'untilClose' | 'chunkLine' | 'chunk' | 'chunkEnd' | 'trailers' | 'complete';

const CHUNK_LINE = /^([\da-f]{1,13})(?:;[\t\x20-\x7e\x80-\xff]*)?$/i;
const BEGINNING = Buffer.from('HTTP/1.');
const LINE_END = Buffer.from('\r\n');
const HEAD_END = Buffer.from('\r\n\r\n');
const NOTHING = Buffer.alloc(0);

/**
 * Reads one response of HTTP/1.1 (RFC 9112), however its octets are cut. It is strict where the receiver and
 * a proxy before it could see different ends: one length only, and none beside chunks; lines end with CRLF.
 * Its memory is bounded by the limits above.
 */
export class ResponseReader {
  /** 0 until the final header section has come. */
  status = 0;
  readonly reply = new ResponseHead();
  #part: Part = 'head';
  #held: Buffer = NOTHING;
  /** Octets of the body, or of the chunk, that are still to come. */
  #left = 0;
  #interim = 0;
  #trailerBytes = 0;
  #begun = false;
  #surplus = false;
  #mayPersist = false;

  /** True when something has come. */
  get hasBegun(): boolean {
    return this.#begun;
  }

  /** True when the connection may carry another request: both sides know where this response has ended. */
  get persists(): boolean {
    return this.#mayPersist && !this.#surplus && this.#isComplete;
  }

  /** Takes the next octets. After anything but `more` it takes no others. */
  push(chunk: Uint8Array): ReadState {
    this.#begun ||= chunk.length > 0;
    let octets = Buffer.isBuffer(chunk)
      ? chunk
      : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    if (this.#held.length > 0) octets = Buffer.concat([this.#held, octets]);
    this.#held = NOTHING;
    while (octets.length > 0) {
      if (this.#isComplete) {
        this.#surplus = true;
        break;
      }
      const rest = this.#read(octets);
      if (rest === null) return 'malformed';
      if (rest === octets) {
        this.#held = octets;
        break;
      }
      octets = rest;
      if (this.reply.isFull && !this.#isComplete) return 'full';
    }
    return this.#isComplete ? 'complete' : 'more';
  }

  /** The receiver has ended the connection: whether the response is complete with that. */
  end(): boolean {
    if (this.#part === 'untilClose') this.#part = 'complete';
    return this.#isComplete;
  }

  get #isComplete(): boolean {
    return this.#part === 'complete';
  }

  /**
   * Reads as much as the present part can take, and returns the rest: the same octets when more are needed,
   * null when malformed.
   */
  #read(octets: Buffer): Buffer | null {
    switch (this.#part) {
      case 'head':
        return this.#readHead(octets);
      case 'sized':
      case 'chunk':
        return this.#readSized(octets);
      case 'untilClose':
        this.reply.add(octets);
        return NOTHING;
      case 'chunkLine':
        return this.#readChunkLine(octets);
      case 'chunkEnd':
        if (octets.length < 2) return octets[0] === LINE_END[0] ? octets : null;
        if (octets.indexOf(LINE_END) !== 0) return null;
        this.#part = 'chunkLine';
        return octets.subarray(2);
      case 'trailers':
        return this.#readTrailer(octets);
      case 'complete':
        return octets;
    }
  }

  #readHead(octets: Buffer): Buffer | null {
    const known = Math.min(octets.length, BEGINNING.length);
    if (octets.compare(BEGINNING, 0, known, 0, known) !== 0) return null;
    const end = octets.indexOf(HEAD_END);
    if (end < 0 ? octets.length > HEADER_MAX_BYTES : end > HEADER_MAX_BYTES) return null;
    if (end < 0) {
      const line = octets.indexOf('\n');
      return line < 0 || octets[line - 1] === LINE_END[0] ? octets : null;
    }
    return this.#takeHead(octets, end) ? octets.subarray(end + HEAD_END.length) : null;
  }

  #takeHead(octets: Buffer, end: number): boolean {
    const framing = framingOf(octets, end);
    if (framing === null) return false;
    const { status, length, coding, isLast } = framing;
    // Nothing was upgraded, so 101 is no answer to this request.
    if (status < 200) return status !== 101 && ++this.#interim <= INTERIM_MAX;
    // RFC 9112 6.1: a response with both can be smuggled past a proxy.
    if (length !== null && coding !== null) return false;
    this.status = status;
    this.#mayPersist = !isLast;
    if (status === 204 || status === 304) this.#part = 'complete';
    else if (coding !== null) this.#part = /(?:^|,)[\t ]*chunked$/.test(coding) ? 'chunkLine' : 'untilClose';
    else if (length === null) this.#part = 'untilClose';
    else {
      this.#left = Number(length);
      this.#part = this.#left > 0 ? 'sized' : 'complete';
    }
    return true;
  }

  #readSized(octets: Buffer): Buffer {
    const taken = octets.length > this.#left ? octets.subarray(0, this.#left) : octets;
    this.reply.add(taken);
    this.#left -= taken.length;
    if (this.#left === 0) this.#part = this.#part === 'sized' ? 'complete' : 'chunkEnd';
    return taken === octets ? NOTHING : octets.subarray(taken.length);
  }

  #readChunkLine(octets: Buffer): Buffer | null {
    const end = octets.indexOf(LINE_END);
    if (end < 0) return octets.length > CHUNK_LINE_MAX_BYTES ? null : octets;
    const size = end > CHUNK_LINE_MAX_BYTES ? null : CHUNK_LINE.exec(octets.toString('latin1', 0, end));
    if (!size) return null;
    this.#left = Number.parseInt(size[1] as string, 16);
    this.#part = this.#left > 0 ? 'chunk' : 'trailers';
    return octets.subarray(end + 2);
  }

  #readTrailer(octets: Buffer): Buffer | null {
    const end = octets.indexOf(LINE_END);
    if (this.#trailerBytes + (end < 0 ? octets.length : end) > HEADER_MAX_BYTES) return null;
    if (end < 0) return octets;
    if (end === 0) this.#part = 'complete';
    else if (!isField(octets, end)) return null;
    this.#trailerBytes += end + 2;
    return octets.subarray(end + 2);
  }
}
