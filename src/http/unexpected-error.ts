import { Failure } from '../platform/errors/failure.ts';
import { UnavailableError } from '../platform/errors/unavailable.ts';
import type { RequestLog } from './log.ts';

type RequestHead = Pick<Request, 'method' | 'headers'>;

/**
 * Makes the answer to a thrown error: 503 for an unreachable dependency, 500 for a bug. The cause is only
 * logged, and even there without quotations from the request.
 */
export function unexpectedError(
  thrown: unknown,
  log: RequestLog,
  about: { requestId: string; route: string },
  request?: RequestHead,
): Failure {
  if (thrown instanceof UnavailableError) {
    log.warn({ ...about, cause: causeOf(thrown) }, 'a dependency did not answer');
    return unavailable(thrown, request);
  }
  log.error({ ...about, cause: causeOf(thrown) }, 'a request failed unexpectedly');
  return new Failure('INTERNAL_ERROR', 'Something went wrong on our side.', {
    suggestion:
      'Try again with growing pauses. If the error persists, report the x-request-id of this response.',
  });
}

const NOT_NOW = 'The service cannot do this at the moment.';
const IN_DOUBT = 'The database did not confirm the change in time. It may have been made.';

/**
 * The 503 of a request. A change that the database did not confirm in time may have been made: only its
 * Idempotency-Key distinguishes a repeat from another request.
 */
function unavailable({ applied, retryAfterSeconds }: UnavailableError, request?: RequestHead): Failure {
  const isChange = request !== undefined && request.method !== 'GET' && request.method !== 'HEAD';
  const [message, suggestion] =
    applied === 'no' || !isChange
      ? [NOT_NOW, 'Try again after the time in Retry-After. With an Idempotency-Key, nothing is done twice.']
      : request.headers.has('idempotency-key')
        ? [
            IN_DOUBT,
            'Send the same request again with the same Idempotency-Key: it returns the earlier result, or carries the request out.',
          ]
        : [
            IN_DOUBT,
            'Check whether it was done before you send it again. With an Idempotency-Key, nothing is done twice.',
          ];
  return new Failure('SERVICE_UNAVAILABLE', message, { suggestion, retryAfterSeconds });
}

interface Cause {
  readonly name: string;
  readonly message?: string;
  readonly code?: string;
  readonly stack?: readonly string[];
  readonly cause?: Cause;
}

const LONGEST_MESSAGE = 200;
/** The characters read of a message: the search for an address restarts at each character of a long word. */
const MOST_READ = 4_096;
const DEEPEST_CAUSE = 3;

/**
 * Describes an error for the log. Parsers and databases quote the input between quotation marks, so that part
 * is removed.
 */
function causeOf(thrown: unknown, depth = 1): Cause {
  if (!(thrown instanceof Error)) return { name: typeof thrown };
  const message = thrown.message
    .slice(0, MOST_READ)
    .replace(/"[^"]*"?|'[^']*'?|`[^`]*`?/g, '"…"')
    .replace(/\S+@\S+|svc_\w+|whsec_\S+/g, '…')
    .slice(0, LONGEST_MESSAGE);
  const code = 'code' in thrown && typeof thrown.code === 'string' ? thrown.code : undefined;
  const stack = thrown.stack?.split('\n').flatMap((line) => /^\s*at .*/.exec(line)?.[0].trim() ?? []);
  const inner =
    depth < DEEPEST_CAUSE && thrown.cause !== undefined ? causeOf(thrown.cause, depth + 1) : undefined;
  return {
    name: thrown.name,
    message,
    ...(code && { code }),
    ...(stack && { stack }),
    ...(inner && { cause: inner }),
  };
}
