import type { FailureCode } from '../../platform/errors/failure.ts';

/** The documentation of one error code. */
export interface CodeEntry {
  /** The cause of the error. */
  readonly meaning: string;
  /** The action that a client should take. */
  readonly remedy: string;
  /** `later` when the same request may succeed at another time. */
  readonly retry: 'never' | 'later';
  /** A message that the service really sends. */
  readonly message: string;
}

/** Every code, in the order of the page. */
export const CODES = {
  UNAUTHORIZED: {
    meaning: 'The API key is missing, malformed, unknown or revoked.',
    remedy:
      'Send `Authorization: Bearer <API_KEY>` with an active key. If the key is lost, revoke it and create another one.',
    retry: 'never',
    message: 'This API key is not valid, or it was revoked.',
  },
  FORBIDDEN: {
    meaning:
      'The key lacks a permission, the sending domain is not verified, or the action is blocked for this resource.',
    remedy: 'The message names the permission or the domain; `suggestion` says what to change.',
    retry: 'never',
    message: 'This API key lacks the permission emails:send.',
  },
  NOT_FOUND: {
    meaning:
      'There is no such resource or endpoint. A resource of the other environment looks the same as a missing one.',
    remedy: 'Check the id, and whether the key is a live or a test key. The message names the resource.',
    retry: 'never',
    message: 'No such email.',
  },
  CONFLICT: {
    meaning:
      'The resource already exists, its state does not allow the action, or it has changed since `ifUpdatedAt`.',
    remedy: 'Read the resource again, and decide whether the request still makes sense.',
    retry: 'never',
    message: 'Only a scheduled email can be cancelled.',
  },
  VALIDATION_ERROR: {
    meaning: 'The request was read, but some of its values are wrong.',
    remedy:
      'Every entry of `details` says where (`path`, a JSON pointer such as `/body/to/3`, `/query/limit` or `/headers/idempotency-key`) and what to send instead.',
    retry: 'never',
    message: 'One value of the request is not valid.',
  },
  BAD_REQUEST: {
    meaning: 'The body could not be read: it is not well-formed JSON in UTF-8, or it is incomplete.',
    remedy: 'Serialise the body with a JSON library and send all of it.',
    retry: 'never',
    message: 'The body is not well-formed JSON in UTF-8.',
  },
  UNSUPPORTED_MEDIA_TYPE: {
    meaning: 'The endpoint does not accept this Content-Type, this charset, or an encoded body.',
    remedy:
      'Send `Content-Type: application/json`, or the type that the endpoint states, without Content-Encoding.',
    retry: 'never',
    message: 'Send the body with Content-Type application/json.',
  },
  INVALID_TOKEN: {
    meaning: 'A signed link, such as one to unsubscribe, is not valid.',
    remedy: 'Open the link exactly as it appears in the email.',
    retry: 'never',
    message: 'This link is not valid.',
  },
  RATE_LIMITED: {
    meaning:
      'Too many requests came from one address in a minute, or with one API key in a second. The `x-ratelimit-*` headers describe the limit of the address.',
    remedy:
      'Retry with exponential backoff and jitter. If there is a `Retry-After` header, wait at least that many seconds.',
    retry: 'later',
    message: 'Rate limit exceeded: 100 requests/second per API key.',
  },
  PAYLOAD_TOO_LARGE: {
    meaning: 'The body is larger than the endpoint accepts.',
    remedy: 'Send a smaller body; the message states the limit. Link large files instead of attaching them.',
    retry: 'never',
    message: 'The body is larger than the 1,048,576 bytes that this endpoint accepts.',
  },
  QUOTA_EXCEEDED: {
    meaning: 'A limit of the plan is used up: emails of this month, domains, or test sends of today.',
    remedy:
      'Do not retry. The email quota resets at the start of the next UTC month, and the test sends at midnight UTC. A larger plan raises the email quota, and deleting a domain frees a place for another one.',
    retry: 'never',
    message: 'The monthly email quota of the plan is used up.',
  },
  TEST_MODE_NOT_SUPPORTED: {
    meaning:
      'The endpoint reaches real recipients, or reads what the live environment did, and does not accept test keys.',
    remedy: 'Use a live key.',
    retry: 'never',
    message: 'This endpoint concerns the live environment and does not accept test keys.',
  },
  IDEMPOTENCY_CONFLICT: {
    meaning: 'The Idempotency-Key was used for another request within 24 hours.',
    remedy: 'Use a new key for a new request. To get the stored reply again, send the original request.',
    retry: 'never',
    message: 'This Idempotency-Key was used for another request.',
  },
  IDEMPOTENCY_IN_PROGRESS: {
    meaning: 'A request with the same Idempotency-Key is still being processed.',
    remedy: 'Wait a moment, then send the same request again to get the reply of the first one.',
    retry: 'later',
    message: 'A request with this Idempotency-Key is still being processed.',
  },
  INTERNAL_ERROR: {
    meaning: 'The service failed unexpectedly.',
    remedy:
      'Retry with backoff. If the error persists, report the `x-request-id` of the response: the log holds the cause under this id.',
    retry: 'later',
    message: 'Something went wrong on our side.',
  },
  SERVICE_UNAVAILABLE: {
    meaning: 'The database or another dependency is unavailable, saturated or slow.',
    remedy:
      'Retry after the seconds in `Retry-After`. A 503 does not mean that nothing was done: if the database answered too late, the email may have been accepted, and the message says so. Send the same request again with the same Idempotency-Key: it returns the earlier result, or carries the request out. Without a key, check before you send it again.',
    retry: 'later',
    message: 'The service cannot do this at the moment.',
  },
} as const satisfies Record<FailureCode, CodeEntry>;

/** The codes in that order. */
export const CODE_NAMES = Object.keys(CODES) as readonly FailureCode[];
