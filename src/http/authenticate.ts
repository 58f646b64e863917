import { Failure } from './failure.ts';
import type { Caller } from './route.ts';

/** Finds the caller behind a key that is well-formed; null when no active key is like it. */
export type Authenticate = (key: string) => Caller | null | Promise<Caller | null>;

const SHAPE = /^Bearer (svc_(?:live|test)_[A-Za-z0-9]{32})$/;

const ABSENT = new Failure('UNAUTHORIZED', 'This request carries no API key.', {
  suggestion: 'Send the header Authorization: Bearer <API_KEY>.',
});
const MALFORMED = new Failure('UNAUTHORIZED', 'The Authorization header does not hold an API key.', {
  suggestion: 'Send Authorization: Bearer, one space, and a key that begins with svc_live_ or svc_test_.',
});
const UNKNOWN = new Failure('UNAUTHORIZED', 'This API key is not valid, or it was revoked.');

/** Who makes a request. What is not a key by its shape is refused before anything is looked up. */
export function identify(
  headers: Headers,
  authenticate: Authenticate,
): Caller | Failure | Promise<Caller | Failure> {
  const header = headers.get('authorization');
  if (header === null) return ABSENT;
  const key = SHAPE.exec(header)?.[1];
  if (key === undefined) return MALFORMED;
  const caller = authenticate(key);
  return caller instanceof Promise ? caller.then((found) => found ?? UNKNOWN) : (caller ?? UNKNOWN);
}
