import type { Readable, Writable } from 'node:stream';
import type { ImapFlow } from 'imapflow';

/** Octets that a server may send in answer to a command. */
export interface AnswerLimits {
  /** For one line. */
  readonly line: number;
  /** For one literal, which is what holds a message. */
  readonly literal: number;
  /** For all lines and literals until the next command. */
  readonly total: number;
}

/** The part of the library that reads the octets of a connection. */
interface OctetReader extends Writable {
  maxLineLength: number;
  maxLiteralSize: number;
  maxResponseSize: number;
}

/**
 * Limits a server to what an answer to the command under way may hold. The library has the same limits for
 * all commands, so that a server could send a message at any time, and none for the number of answers, which
 * it may collect.
 */
export class AnswerGuard {
  readonly #reader: OctetReader;
  #left = 0;

  constructor(client: ImapFlow, exceeded: () => void) {
    this.#reader = (client as unknown as { readonly streamer: OctetReader }).streamer;
    const count = (octets: Buffer): void => {
      this.#left -= octets.length;
      if (this.#left < 0) exceeded();
    };
    // STARTTLS replaces the source.
    this.#reader.on('pipe', (source: Readable) => source.on('data', count));
    this.#reader.on('unpipe', (source: Readable) => source.off('data', count));
  }

  /** Sets the limits for the next command. */
  allow({ line, literal, total }: AnswerLimits): void {
    this.#left = total;
    this.#reader.maxLineLength = line;
    this.#reader.maxLiteralSize = literal;
    this.#reader.maxResponseSize = Math.max(line, literal + line);
  }
}
