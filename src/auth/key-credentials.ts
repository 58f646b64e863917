import { Failure } from '../http/failure.ts';
import { isApiKey } from './api-key.ts';
import type { KeyPrincipal } from './principal.ts';

/** Finds the principal behind a key that is well-formed; null when no active key is like it. */
export type Authenticate = (key: string) => KeyPrincipal | null | Promise<KeyPrincipal | null>;

/** RFC 9110, 11.1 and 11.4: a scheme in upper or lower case, and one space or more. */
const CREDENTIALS = /^bearer +(.*)$/i;

const ABSENT = new Failure('UNAUTHORIZED', 'This request carries no API key.', {
  suggestion: 'Send the header Authorization: Bearer <API_KEY>.',
});
const MALFORMED = new Failure('UNAUTHORIZED', 'The Authorization header does not hold an API key.', {
  suggestion: 'Send Authorization: Bearer, one space, and a key that begins with svc_live_ or svc_test_.',
});
const UNKNOWN = new Failure('UNAUTHORIZED', 'This API key is not valid, or it was revoked.');

type Identified = KeyPrincipal | Failure | Promise<KeyPrincipal | Failure>;

/** Who makes a request with an API key. What is not a key by its shape is refused before anything is looked up. */
export function identify(headers: Headers, authenticate: Authenticate): Identified {
  const header = headers.get('authorization');
  if (header === null) return ABSENT;
  const key = CREDENTIALS.exec(header)?.[1];
  return key === undefined ? MALFORMED : identifyKey(key, authenticate);
}

/** The same for a key that came by another way than the header. */
export function identifyKey(key: string, authenticate: Authenticate): Identified {
  if (!isApiKey(key)) return MALFORMED;
  const principal = authenticate(key);
  return principal instanceof Promise ? principal.then((found) => found ?? UNKNOWN) : (principal ?? UNKNOWN);
}
