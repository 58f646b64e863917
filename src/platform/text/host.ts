import { domainToASCII } from 'node:url';
import { parse } from 'tldts';

/** RFC 1035 2.3.4: 255 octets on the wire are 253 as text. */
const LONGEST_HOST = 253;

/**
 * Labels of letters, digits and inner hyphens (RFC 1123 2.1), at most 63 octets each and at least two of
 * them. The last one begins with a letter (RFC 3696 2), so that no way of writing an IP address passes.
 */
const ASCII_HOST = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/**
 * The characters of an internationalised name before it is converted: letters, marks, digits, and the few
 * others that IDNA allows by their neighbours. Without this, domainToASCII reads `%41` as a letter, cuts the
 * name at `/`, `?` and `#`, and drops zero-width characters (pinned by a test).
 */
const UNICODE_HOST = /^[\p{L}\p{M}\p{N}.\-\u00b7\u0375\u05f3\u05f4\u30fb\p{Join_Control}]+$/u;

const IS_ASCII = /^\p{ASCII}*$/u;

/**
 * The host in lower-case ASCII (punycode where it is internationalised), or null when it is no name of a
 * host.
 */
export function asciiHost(host: string): string | null {
  if (host.length > LONGEST_HOST) return null;
  const lower = host.toLowerCase();
  const ascii = IS_ASCII.test(lower) && !lower.includes('xn--') ? lower : converted(lower);
  return ascii.length <= LONGEST_HOST && ASCII_HOST.test(ascii) ? ascii : null;
}

/**
 * The name in punycode; empty when IDNA does not allow it. Names that are already in punycode are checked
 * too.
 */
const converted = (lower: string): string => (UNICODE_HOST.test(lower) ? domainToASCII(lower) : '');

/** The host of a URL, as sockets and certificates take it: an IPv6 address loses its brackets. */
export const hostOf = (url: URL): string => unbracketed(url.hostname);

/** A host without the brackets that URLs put around an IPv6 address. */
export const unbracketed = (host: string): string => host.replace(/^\[(.*)\]$/, '$1');

/**
 * True for a name below which a registry sells domains. Those of the private part of the list, such as
 * github.io, have an owner.
 */
export const isPublicSuffix = (name: string): boolean => parse(name).domain === null;

/**
 * The domain that one owner has registered, whose DMARC policy applies to a name; null for a public suffix.
 * Each customer of github.io or uk.com is an owner, as the private part of the public suffix list has it.
 */
export const registrableOf = (name: string): string | null =>
  parse(name, { allowPrivateDomains: true }).domain;
