import type { Error as ErrorAnswer } from './operations.ts';

/** A code that the service answers with. */
export type ServiceCode = ErrorAnswer['error']['code'];

/** The reason of a failure without a readable answer of the service. */
export type LocalCode =
  /** No connection, or it broke off: `cause` is what the runtime says of it. */
  | 'CONNECTION_FAILED'
  /** No whole answer within `timeoutMs`. */
  | 'TIMED_OUT'
  /** An answer that is not the service's: of a proxy, or of another program at that address. */
  | 'UNEXPECTED_ANSWER';

/** A mistake in a request: a JSON pointer such as `/body/to/3`, and a sentence about the remedy. */
export interface Detail {
  readonly path: string;
  readonly message: string;
}

interface PosthornErrorBase<Code extends string> extends Error {
  readonly name: 'PosthornError';
  readonly code: Code;
  /** The number of attempts, the first one included. */
  readonly attempts: number;
}

interface ServiceError<Code extends ServiceCode> extends PosthornErrorBase<Code> {
  readonly status: number;
  /** `x-request-id`, by which the log of the service names the request. */
  readonly requestId: string | null;
  /** The page about the code. */
  readonly docs: string;
  readonly suggestion: string | null;
}

interface ValidationError extends ServiceError<'VALIDATION_ERROR'> {
  readonly details: readonly Detail[];
}

interface RetryableError<Code extends ServiceCode> extends ServiceError<Code> {
  /** The seconds of `Retry-After`; null without that header. */
  readonly retryAfterSeconds: number | null;
}

interface LocalError<Code extends LocalCode> extends PosthornErrorBase<Code> {
  /** Null without an answer. */
  readonly status: number | null;
}

type AnsweredByCode = {
  [Code in ServiceCode]: Code extends 'VALIDATION_ERROR'
    ? ValidationError
    : Code extends 'RATE_LIMITED' | 'SERVICE_UNAVAILABLE'
      ? RetryableError<Code>
      : ServiceError<Code>;
}[ServiceCode];

/** All failures of a call, distinguished by `code`. */
export type PosthornError = AnsweredByCode | { [Code in LocalCode]: LocalError<Code> }[LocalCode];

/**
 * The class of all failures at run time. The members beyond `code` depend on it: `isPosthornError` narrows to
 * them.
 */
class ClientError extends Error {
  override readonly name = 'PosthornError';
  readonly code: string;

  constructor(code: string, message: string, more: object, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    Object.assign(this, more);
  }
}

/** Creates the error of a call. @internal */
export const failed = (code: string, message: string, more: object, cause?: unknown): PosthornError =>
  new ClientError(code, message, more, cause) as unknown as PosthornError;

/**
 * True for what a call of this client was rejected with. An `AbortSignal` of the caller rejects with its own
 * reason.
 */
export const isPosthornError = (error: unknown): error is PosthornError => error instanceof ClientError;

/** The result of a call as a value: the data, or the error. */
export type CallResult<Data> =
  | { readonly data: Data; readonly error: null }
  | { readonly data: null; readonly error: PosthornError };

/** Turns a rejected call into a value, as an alternative to catching. Other errors are thrown again. */
export async function settle<Data>(call: Promise<Data>): Promise<CallResult<Data>> {
  try {
    return { data: await call, error: null };
  } catch (error) {
    if (isPosthornError(error)) return { data: null, error };
    throw error;
  }
}
