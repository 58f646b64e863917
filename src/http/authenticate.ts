import { Failure } from './failure.ts';
import type { Caller } from './route.ts';

/** Finds the caller behind a key that is well-formed; null when no active key is like it. */
export type Authenticate = (key: string) => Caller | null | Promise<Caller | null>;

const KEY = /^svc_(?:live|test)_[A-Za-z0-9]{32}$/;
/** RFC 9110, 11.1 and 11.4: a scheme in upper or lower case, and one space or more. */
const CREDENTIALS = /^bearer +(.*)$/i;

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
  const key = CREDENTIALS.exec(header)?.[1];
  return key === undefined ? MALFORMED : identifyKey(key, authenticate);
}

/** The same for a key that came by another way than the header. */
export function identifyKey(
  key: string,
  authenticate: Authenticate,
): Caller | Failure | Promise<Caller | Failure> {
  if (!KEY.test(key)) return MALFORMED;
  const caller = authenticate(key);
  return caller instanceof Promise ? caller.then((found) => found ?? UNKNOWN) : (caller ?? UNKNOWN);
}
