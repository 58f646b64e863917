import { closeSync, openSync } from 'node:fs';
import { devNull } from 'node:os';
import { UnavailableError } from '../../../platform/errors/unavailable.ts';
import type { Connection, Connections, ConnectionUser, Target } from './connections.ts';
import { TargetRefused } from './lookup.ts';
import type { PostError } from './post-result.ts';
import type { ResponseHead } from './response-head.ts';
import { ResponseReader } from './response-reader.ts';

const OUT_OF_SOCKETS: ReadonlySet<string> = new Set([
  'EMFILE',
  'ENFILE',
  'ENOBUFS',
  'ENOMEM',
  'EADDRNOTAVAIL',
]);
const LOST: ReadonlySet<string> = new Set(['ECONNRESET', 'EPIPE', 'ECONNABORTED']);
const NO_CONNECTION: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'EHOSTDOWN',
  'EHOSTUNREACH',
  'ENETDOWN',
  'ENETUNREACH',
  'ETIMEDOUT',
]);

/** The answer of a receiver to one request. */
export interface Outcome {
  /** 0 until a status line was received. */
  readonly status: number;
  readonly reply: ResponseHead;
  readonly error: PostError | null;
}

/**
 * Sends the octets of a request and settles within `limitMs`: the answer is complete, cut off once enough of
 * it was read, or failed.
 * @throws UnavailableError when this machine has no socket left.
 */
export const sendRequest = (
  connections: Connections,
  target: Target,
  request: Uint8Array,
  limitMs: number,
): Promise<Outcome> => new Exchange(connections, target, request).run(limitMs);

/** One request and its response. */
class Exchange implements ConnectionUser {
  readonly #settled = Promise.withResolvers<Outcome>();
  readonly #response = new ResponseReader();
  #connection: Connection | null = null;
  #isKept = false;
  #isReady = false;
  #timer: Timer | undefined;

  constructor(
    private readonly connections: Connections,
    private readonly target: Target,
    private readonly request: Uint8Array,
  ) {}

  run(limitMs: number): Promise<Outcome> {
    this.#timer = setTimeout(() => this.#breakOff('timeout'), limitMs);
    this.#begin(this.connections.take(this.target));
    return this.#settled.promise;
  }

  ready(): void {
    this.#isReady = true;
    this.#connection?.write(this.request);
  }

  data(chunk: Uint8Array): void {
    if (!this.#isReady) return this.#breakOff('malformed_answer');
    const reading = this.#response.push(chunk);
    if (reading === 'complete') this.#complete();
    else if (reading === 'malformed') this.#breakOff('malformed_answer');
    else if (reading === 'full') this.#breakOff(null);
  }

  ended(): void {
    if (this.#response.end()) this.#complete();
    else this.#lose('connection_lost');
  }

  closed(error: Error | null): void {
    const code = codeOf(error);
    if (error !== null && isOutOfSockets(code)) {
      this.#release();
      const refusal = new UnavailableError('No socket is left for webhooks.', 'no', 1, { cause: error });
      this.#settled.reject(refusal);
    } else this.#lose(this.#reasonOf(error, code));
  }

  #begin(kept: Connection | null): void {
    this.#isKept = kept !== null;
    this.#isReady = false;
    this.#connection = kept ?? this.connections.open(this.target);
    this.#connection.user = this;
    if (kept) this.ready();
  }

  /**
   * The connection is gone. A kept one that gave no octet of an answer was closed by the receiver in the
   * meantime, so that the request goes over a new one, once. (It may have been read all the same: receivers
   * tell by the event's id.)
   */
  #lose(error: PostError): void {
    if (!this.#isKept || this.#response.hasBegun || error !== 'connection_lost') return this.#breakOff(error);
    this.#connection?.destroy();
    this.#begin(null);
  }

  #complete(): void {
    const connection = this.#connection;
    // An answer that came before the request had left in full leaves a rest of it in the connection.
    if (connection?.isFlushed && this.#response.persists) this.connections.keep(connection);
    else connection?.destroy();
    this.#settle(null);
  }

  #breakOff(error: PostError | null): void {
    this.#connection?.destroy();
    this.#settle(error);
  }

  #settle(error: PostError | null): void {
    this.#release();
    const { status, reply } = this.#response;
    this.#settled.resolve({ status, reply, error });
  }

  #release(): void {
    clearTimeout(this.#timer);
    this.#connection = null;
  }

  #reasonOf(error: Error | null, code: string): PostError {
    if (error instanceof TargetRefused) return error.reason;
    if (NO_CONNECTION.has(code)) return 'no_connection';
    if (LOST.has(code)) return 'connection_lost';
    // Certificate errors have dozens of codes, which differ between TLS libraries.
    return error !== null && this.target.secure && !this.#isReady ? 'untrusted_tls' : 'connection_lost';
  }
}

const codeOf = (error: Error | null): string =>
  error !== null && 'code' in error && typeof error.code === 'string' ? error.code : '';

/**
 * Bun 1.4.5 says "connection refused" also where it could open no socket (measured); a look shows whether a
 * file can be opened.
 */
function isOutOfSockets(code: string): boolean {
  if (OUT_OF_SOCKETS.has(code)) return true;
  if (code !== 'ECONNREFUSED') return false;
  try {
    closeSync(openSync(devNull, 'r'));
    return false;
  } catch (error) {
    return OUT_OF_SOCKETS.has(codeOf(error as Error));
  }
}
