import { isIP } from 'node:net';
import { within } from '../../../async/deadline.ts';
import type { AddressGuard } from '../http/address-guard.ts';
import type { Resolve } from '../http/resolve.ts';

/** The longest `url` that an endpoint may have. */
export const URL_MAX_LENGTH = 2048;

/** What decides where webhooks may go. */
export interface TargetRules {
  readonly guard: AddressGuard;
  readonly resolve: Resolve;
  /** Whether names of private networks may be registered: where private addresses may be reached at all. */
  readonly privateNames: boolean;
  /** How long registration waits for a name to resolve, in milliseconds. */
  readonly patienceMs?: number;
}

/** RFC 1034, 3.5, with the underscore that container networks use. */
const LABEL = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/;

const isHostName = (host: string): boolean =>
  host.length <= 253 && host.split('.').every((label) => LABEL.test(label));

/** The host that a connection is made to: an IPv6 address without its brackets. */
export const hostOf = (url: URL): string => url.hostname.replace(/^\[(.*)\]$/, '$1');

/**
 * What is wrong with the form of a URL, as a sentence, or null. Strict on the text before it is parsed, since a URL parser
 * mends much (`http:\\host`, `http:host`, tabs inside): what was checked, what is stored and what is dialled are one text.
 */
export function problemOfUrl(text: string): string | null {
  if (text.length > URL_MAX_LENGTH) return `Must have at most ${URL_MAX_LENGTH} characters.`;
  if (!/^https?:\/\/[^/]/i.test(text)) return 'Must be an absolute URL that starts with http:// or https://.';
  if (/[\s\p{Cc}\\]/u.test(text)) return 'Must have no spaces, control characters or backslashes.';
  if (text.includes('#')) return 'Must have no fragment.';
  if (/^[^/]*\/\/[^/?]*@/.test(text)) return 'Must have no user name and no password.';
  const url = URL.parse(text);
  if (url === null) return 'Must be a valid URL.';
  if (url.port === '0') return 'Must have a port from 1 to 65535.';
  const host = hostOf(url);
  return isIP(host) !== 0 || isHostName(host) ? null : 'Must have a valid host name.';
}

const FORBIDDEN =
  'Must lead to a public address: private, loopback, link-local, reserved and metadata addresses are refused.';

const PRIVATE_NAME =
  'Must have a host name of the public internet: single labels and names under .local, .internal and .localhost are refused.';

/**
 * Names that no public DNS will ever answer: single labels, mDNS (RFC 6762 3), loopback (RFC 6761 6.3), and the domain that
 * ICANN reserved for private use, where clouds also keep their metadata services.
 */
const isPrivateName = (host: string): boolean =>
  !host.includes('.') || /\.(?:local|internal|localhost)$/.test(host);

/** Google's metadata service hands out credentials; like the metadata addresses, no policy opens it. */
const METADATA_NAME = 'metadata.google.internal';

/**
 * What is wrong with a URL that somebody registers, or null; asks DNS. One forbidden address among several is enough to
 * refuse. A name that does not resolve, or not in time, is accepted: it may not be published yet, and every connection is
 * checked again.
 */
export async function problemOfTarget(
  text: string,
  { guard, resolve, privateNames, patienceMs = 2_000 }: TargetRules,
): Promise<string | null> {
  const problem = problemOfUrl(text);
  if (problem !== null) return problem;
  const host = hostOf(new URL(text));
  const isName = isIP(host) === 0;
  if (host === METADATA_NAME || (isName && !privateNames && isPrivateName(host))) return PRIVATE_NAME;
  const addresses = isName ? await within(patienceMs, Promise.try(resolve, host)).catch(() => []) : [host];
  return addresses.every(guard) ? null : FORBIDDEN;
}
