import { customAlphabet } from 'nanoid';
import { Failure } from '../../platform/errors/failure.ts';
import type { KeyPrincipal } from './principal.ts';

const randomPart = customAlphabet('0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz', 32);

/** Creates an API key. It is shown once; only its hash is stored. */
export const mintApiKey = (livemode: boolean): string => `svc_${livemode ? 'live' : 'test'}_${randomPart()}`;

const FORM = /^svc_(?:live|test)_[A-Za-z0-9]{32}$/;

/** True when a text has the form of a key. Anything else is refused before the database is asked. */
export const isApiKey = (text: string): boolean => FORM.test(text);

/**
 * SHA-256, lower-case hex. A key has too many random bits to be guessed, so a slow hash would only cost time
 * (this one takes 0.2 µs).
 */
export const hashOfKey = (key: string): string => Bun.CryptoHasher.hash('sha256', key, 'hex');

/**
 * The first and the last four characters with an ellipsis between: enough to identify a key, too little to
 * use it.
 */
export const prefixOf = (key: string): string => `${key.slice(0, 4)}…${key.slice(-4)}`;

/** Finds the principal of a well-formed key; null when there is no such active key. */
export type Authenticate = (key: string) => KeyPrincipal | null | Promise<KeyPrincipal | null>;

/** RFC 9110, 11.1 and 11.4: the scheme in any case, then one or more spaces. */
const CREDENTIALS = /^bearer +(.*)$/i;

const ABSENT = new Failure('UNAUTHORIZED', 'This request carries no API key.', {
  suggestion: 'Send the header Authorization: Bearer <API_KEY>.',
});
const MALFORMED = new Failure('UNAUTHORIZED', 'The Authorization header does not hold an API key.', {
  suggestion: 'Send Authorization: Bearer, one space, and a key that begins with svc_live_ or svc_test_.',
});
const UNKNOWN = new Failure('UNAUTHORIZED', 'This API key is not valid, or it was revoked.');

type Identification = KeyPrincipal | Failure | Promise<KeyPrincipal | Failure>;

/**
 * Identifies the caller by the API key in the Authorization header. A malformed key is refused before the
 * database is asked.
 */
export function identify(headers: Headers, authenticate: Authenticate): Identification {
  const header = headers.get('authorization');
  if (header === null) return ABSENT;
  const key = CREDENTIALS.exec(header)?.[1];
  return key === undefined ? MALFORMED : identifyKey(key, authenticate);
}

/** The same for a key that was not sent in the header. */
export function identifyKey(key: string, authenticate: Authenticate): Identification {
  if (!isApiKey(key)) return MALFORMED;
  const principal = authenticate(key);
  return principal instanceof Promise ? principal.then((found) => found ?? UNKNOWN) : (principal ?? UNKNOWN);
}
