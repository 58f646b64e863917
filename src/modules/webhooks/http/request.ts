import type { ClientRequest, IncomingMessage } from 'node:http';
import { Unavailable } from '../../../errors/unavailable.ts';
import type { PostError } from './post-result.ts';
import { ResponseHead } from './response-head.ts';
import { NoTarget } from './sockets.ts';

/** 1xx answers before the real one; a receiver that floods them is cut off, not read for ten seconds. */
const INTERIM_MAX = 16;

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

/** What a receiver did with one request. */
export interface Outcome {
  /** 0 while no status line has come. */
  readonly status: number;
  readonly reply: ResponseHead;
  readonly error: PostError | null;
}

/**
 * Sends a request and settles within `limitMs`, whatever happens: complete, cut short once the reply is known well enough,
 * or failed. `open` makes a request that has not ended yet; it is called once more, for a connection of its own, when
 * the receiver had closed the idle one that the first took.
 * @throws Unavailable when this machine has no socket left.
 */
export function sendRequest(
  open: (fresh: boolean) => ClientRequest,
  body: Uint8Array,
  limitMs: number,
): Promise<Outcome> {
  const settled = Promise.withResolvers<Outcome>();
  const reply = new ResponseHead();
  let current: ClientRequest | undefined;
  let answered: IncomingMessage | undefined;
  let interim = 0;
  let over = false;

  const timer = setTimeout(() => breakOff('timeout'), limitMs);
  const end = (): void => {
    over = true;
    clearTimeout(timer);
  };
  const settle = (error: PostError | null): void => {
    end();
    settled.resolve({ status: answered?.statusCode ?? 0, reply, error });
  };
  const breakOff = (error: PostError | null): void => {
    settle(error);
    current?.destroy();
  };

  const read = (response: IncomingMessage): void => {
    const { statusCode = 0 } = response;
    // RFC 9110, 15: anything else is no status. 1xx never arrives here.
    if (statusCode < 200 || statusCode > 599) breakOff('malformed_answer');
    else answered = response;
    response.on('data', (chunk: Uint8Array) => {
      reply.add(chunk);
      if (reply.isFull) breakOff(null);
    });
    response.on('end', () => settle(null));
    response.on('error', () => settle('connection_lost'));
  };

  const send = (fresh: boolean): void => {
    const request = open(fresh);
    current = request;
    request.on('response', read);
    request.on('upgrade', () => breakOff('malformed_answer'));
    request.on('information', () => {
      interim += 1;
      if (interim > INTERIM_MAX) breakOff('malformed_answer');
    });
    request.on('error', (error) => {
      const code = codeOf(error);
      // What a request that was broken off says of itself is no news, nor what comes after a whole answer.
      if (over || answered?.complete) return;
      if (request.reusedSocket && !answered && LOST.has(code)) send(true);
      else if (OUT_OF_SOCKETS.has(code)) fail(error);
      else settle(reasonOf(error, code, request));
    });
    request.end(body);
  };

  const fail = (cause: Error): void => {
    end();
    settled.reject(new Unavailable('No socket is left for webhooks.', 'no', 1, { cause }));
  };

  send(false);
  return settled.promise;
}

const codeOf = (error: Error): string =>
  'code' in error && typeof error.code === 'string' ? error.code : '';

function reasonOf(error: Error, code: string, { protocol }: ClientRequest): PostError {
  if (error instanceof NoTarget) return error.reason;
  if (NO_CONNECTION.has(code)) return 'no_connection';
  if (LOST.has(code)) return 'connection_lost';
  if (code.startsWith('HPE_')) return 'malformed_answer';
  // Certificates fail with dozens of codes, which differ between TLS libraries.
  return protocol === 'https:' ? 'untrusted_tls' : 'connection_lost';
}
