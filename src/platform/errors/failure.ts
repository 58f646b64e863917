/** The closed list of error codes that clients branch on. */
export type FailureCode =
  | 'UNAUTHORIZED'
  | 'FORBIDDEN'
  | 'NOT_FOUND'
  | 'CONFLICT'
  | 'VALIDATION_ERROR'
  | 'BAD_REQUEST'
  | 'UNSUPPORTED_MEDIA_TYPE'
  | 'INVALID_TOKEN'
  | 'RATE_LIMITED'
  | 'PAYLOAD_TOO_LARGE'
  | 'QUOTA_EXCEEDED'
  | 'TEST_MODE_NOT_SUPPORTED'
  | 'IDEMPOTENCY_CONFLICT'
  | 'IDEMPOTENCY_IN_PROGRESS'
  | 'INTERNAL_ERROR'
  | 'SERVICE_UNAVAILABLE';

/** The HTTP status of each code; total, so that a new code cannot be forgotten here. */
export const STATUS_OF = {
  UNAUTHORIZED: 401,
  FORBIDDEN: 403,
  NOT_FOUND: 404,
  CONFLICT: 409,
  VALIDATION_ERROR: 422,
  BAD_REQUEST: 400,
  UNSUPPORTED_MEDIA_TYPE: 415,
  INVALID_TOKEN: 400,
  RATE_LIMITED: 429,
  PAYLOAD_TOO_LARGE: 413,
  QUOTA_EXCEEDED: 429,
  TEST_MODE_NOT_SUPPORTED: 403,
  IDEMPOTENCY_CONFLICT: 409,
  IDEMPOTENCY_IN_PROGRESS: 409,
  INTERNAL_ERROR: 500,
  SERVICE_UNAVAILABLE: 503,
} as const satisfies Record<FailureCode, number>;

/** One mistake in a request: its JSON pointer (`/body/to/3`) and a sentence about the remedy. */
export interface Detail {
  readonly path: string;
  readonly message: string;
}

/** The optional parts of a failure. */
export interface FailureExtra {
  readonly details?: readonly Detail[];
  readonly suggestion?: string;
  /** Becomes the `Retry-After` header; never a member of the body. */
  readonly retryAfterSeconds?: number;
}

/**
 * An expected refusal. Commands and queries return it as a value; exceptions are for bugs and unreachable
 * dependencies. Messages are sentences for people and never quote what the client sent.
 */
export class Failure {
  constructor(
    readonly code: FailureCode,
    readonly message: string,
    readonly extra: FailureExtra = {},
  ) {}
}

/** The 422 of a request with wrong content, with all its mistakes. */
export const invalid = (details: readonly Detail[]): Failure =>
  new Failure(
    'VALIDATION_ERROR',
    details.length === 1
      ? 'One value of the request is not valid.'
      : 'Some values of the request are not valid.',
    { details },
  );

/** The 422 of a request with one mistake, at this pointer. */
export const invalidAt = (path: string, message: string): Failure => invalid([{ path, message }]);

/**
 * The 404 of a resource that does not exist or belongs to another environment; the two look the same.
 * `resource` is a noun, such as `email`.
 */
export const notFound = (resource: string): Failure => new Failure('NOT_FOUND', `No such ${resource}.`);

/** The body of every error response. */
export interface ErrorEnvelope {
  readonly error: {
    readonly code: FailureCode;
    readonly message: string;
    readonly docs: string;
    readonly suggestion?: string;
    readonly details?: readonly Detail[];
  };
}

/** The body that clients receive for a failure. `baseUrl` has no trailing slash. */
export function envelope(failure: Failure, baseUrl: string): ErrorEnvelope {
  const { suggestion, details } = failure.extra;
  return {
    error: {
      code: failure.code,
      message: failure.message,
      docs: `${baseUrl}/docs/errors#${failure.code}`,
      ...(suggestion !== undefined && { suggestion }),
      ...(details !== undefined && { details }),
    },
  };
}
