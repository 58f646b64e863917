import type { ClientRequest, IncomingMessage } from 'node:http';
import { Unavailable } from '../../../errors/unavailable.ts';
import type { PostError } from './post-result.ts';
import { ResponseHead } from './response-head.ts';
import { TargetRefused } from './sockets.ts';

/** Most 1xx responses before the final one. A receiver that floods them is cut off instead of being read for ten seconds. */
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

/** The answer of a receiver to one request. */
export interface Outcome {
  /** 0 until a status line was received. */
  readonly status: number;
  readonly reply: ResponseHead;
  readonly error: PostError | null;
}

/**
 * Sends a request and settles within `limitMs`: the answer is complete, cut off once enough of it was read, or failed. `open`
 * makes a request that is not yet ended. It is called a second time, for a new connection, when the receiver had closed the
 * idle connection that the first one used.
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
    // Other numbers are no status (RFC 9110, 15); 1xx never arrives here.
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
      // Errors of a request that we cut off, or after a complete answer, have no meaning.
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
  if (error instanceof TargetRefused) return error.reason;
  if (NO_CONNECTION.has(code)) return 'no_connection';
  if (LOST.has(code)) return 'connection_lost';
  if (code.startsWith('HPE_')) return 'malformed_answer';
  // Certificate errors have dozens of codes, which differ between TLS libraries.
  return protocol === 'https:' ? 'untrusted_tls' : 'connection_lost';
}
