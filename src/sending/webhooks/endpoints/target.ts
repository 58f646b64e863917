import { isIP } from 'node:net';
import { within } from '../../../platform/async/deadline.ts';
import { isLonger } from '../../../platform/errors/text-length.ts';
import { hostOf } from '../../../platform/text/host.ts';
import type { AddressGuard } from '../http/address-guard.ts';
import { type Resolve, TargetRefused } from '../http/lookup.ts';

/** The longest `url` that an endpoint may have. */
export const URL_MAX_LENGTH = 2048;

/** The rules for the URLs of webhooks. */
export interface TargetRules {
  readonly guard: AddressGuard;
  readonly resolve: Resolve;
  /** True when names of private networks may be registered, because private addresses may be reached. */
  readonly privateNames: boolean;
  /** Longest wait of a registration for a name to resolve, in milliseconds. */
  readonly resolveTimeoutMs?: number;
}

/** A label by RFC 1034, 3.5, and the underscore that container networks use. */
const LABEL = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/;

const isHostName = (host: string): boolean =>
  host.length <= 253 && host.split('.').every((label) => LABEL.test(label));

/**
 * Checks the form of a URL and returns a sentence about its problem, or null. The text itself is checked
 * strictly, because a URL parser repairs a lot (`http:\\host`, `http:host`, tabs inside): the text that is
 * checked, stored and connected to is the same.
 */
export function problemOfUrl(text: string): string | null {
  if (isLonger(text, URL_MAX_LENGTH)) return `Must have at most ${URL_MAX_LENGTH} characters.`;
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
 * True for names that the public DNS never answers: single labels, mDNS (RFC 6762 3), loopback (RFC 6761
 * 6.3), and the domain that ICANN reserved for private use, which clouds also use for their metadata
 * services.
 */
const isPrivateName = (host: string): boolean =>
  !host.includes('.') || /\.(?:local|internal|localhost)$/.test(host);

/** True for names that are refused without a look at their addresses. */
export const isRefusedName = (host: string, privateNames: boolean): boolean =>
  host === METADATA_NAME || (isIP(host) === 0 && !privateNames && isPrivateName(host));

/**
 * Google's metadata service returns credentials, so no policy opens it; the same holds for the metadata
 * addresses.
 */
const METADATA_NAME = 'metadata.google.internal';

/** Checks of hosts that customers name, by the rules of webhooks. */
export interface HostChecks {
  /**
   * A sentence about the problem of a host; null where it has none. One that does not resolve in time has
   * none.
   */
  problemOfHost(host: string): Promise<string | null>;
  /** The addresses of a host, each of which may be connected to. @throws TargetRefused */
  addressesOf(host: string): Promise<readonly string[]>;
}

/** Makes those checks. */
export const hostChecks = (rules: TargetRules): HostChecks => ({
  async problemOfHost(text) {
    const host = text.toLowerCase();
    if (isIP(host) === 0 && !isHostName(host)) return 'Must be a host name, without a scheme and a port.';
    return problemOfAddresses(host, rules);
  },
  async addressesOf(text) {
    const host = text.toLowerCase();
    if (isRefusedName(host, rules.privateNames)) throw new TargetRefused('forbidden_address');
    const addresses = isIP(host) === 0 ? await Promise.try(rules.resolve, host).catch(() => []) : [host];
    if (addresses.length === 0) throw new TargetRefused('unresolved_host');
    if (!addresses.every(rules.guard)) throw new TargetRefused('forbidden_address');
    return addresses;
  },
});

/**
 * Checks the URL of a new endpoint, with DNS, and returns a sentence about its problem, or null. One
 * forbidden address is enough to refuse. A name that does not resolve in time is accepted: it may not be
 * published yet, and every connection is checked again.
 */
export async function problemOfTarget(text: string, rules: TargetRules): Promise<string | null> {
  const problem = problemOfUrl(text);
  return problem ?? problemOfAddresses(hostOf(new URL(text)), rules);
}

async function problemOfAddresses(
  host: string,
  { guard, resolve, privateNames, resolveTimeoutMs = 2_000 }: TargetRules,
): Promise<string | null> {
  const isName = isIP(host) === 0;
  if (isRefusedName(host, privateNames)) return PRIVATE_NAME;
  const addresses = isName
    ? await within(resolveTimeoutMs, Promise.try(resolve, host)).catch(() => [])
    : [host];
  return addresses.every(guard) ? null : FORBIDDEN;
}
