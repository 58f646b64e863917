/** The terms of SPF records (RFC 7208 12). */
import { isIPv4, isIPv6 } from 'node:net';

const QUALIFIED = /^[-+?~]?/;
const ALL = /^all$/i;
const OF_DOMAIN = /^(?:include|exists|ptr):(.*)$/i;
const POINTER = /^ptr$/i;
const OF_HOST = /^(?:a|mx)(?::(\S+?))?(?:\/(0|[1-9]\d?))?(?:\/\/(0|[1-9]\d{0,2}))?$/i;
const NETWORK = /^ip([46]):([^/]+)(?:\/(0|[1-9]\d{0,2}))?$/i;
/** Unknown ones are allowed. */
const MODIFIER = /^([a-z][a-z\d._-]*)=(.*)$/i;
/** Each may be there once (RFC 7208 6). */
const SINGLE = /^(?:redirect|exp)=/i;
/**
 * The macros of a domain (RFC 7208 7.1). The letters c, r and t are for the text of an explanation alone
 * (7.2).
 */
const MACRO = /%(?:\{[slodiphv](?:0*[1-9]\d*)?r?[-.+,/_=]*\}|[%_-])/gi;
const ENDS_IN_MACRO = new RegExp(`(?:${MACRO.source})$`, 'i');
/** Printable ASCII without a percent sign, which begins a macro alone. */
const LITERALS = /^[!-$&-~]*$/;
/** The last label has a letter or a hyphen: it is no number (RFC 7208 7.1). */
const LAST_LABEL = /\.(?=\d*[a-z-])[a-z\d](?:[a-z\d-]*[a-z\d])?\.?$/i;
const LOOKED_UP = /^[-+?~]?(?:include:|exists:|ptr(?![^:])|(?:a|mx)(?![^:/]))|^redirect=/i;

/**
 * The most terms for which a receiver asks DNS; at the next one the whole record is a permanent error (RFC
 * 7208 4.6.4).
 */
export const MOST_LOOKUPS = 10;

/** True for a term for which receivers ask DNS. */
export const isLookedUp = (term: string): boolean => LOOKED_UP.test(term);

/**
 * The term for which receivers take the whole record for a permanent error (RFC 7208 4.6); null where there
 * is none.
 */
export function wrongTerm(policy: string): string | null {
  const terms = policy.trim().split(/ +/).slice(1);
  const names = terms.flatMap((term) => SINGLE.exec(term)?.[0].toLowerCase() ?? []);
  const repeated = names.find((name, index) => names.indexOf(name) !== index);
  return terms.find((term) => !isTerm(term)) ?? (repeated === undefined ? null : `two of ${repeated}`);
}

/** True for a term that receivers read. */
export function isTerm(term: string): boolean {
  const [, modifier = '', value = ''] = MODIFIER.exec(term) ?? [];
  if (modifier !== '') return SINGLE.test(term) ? isDomainSpec(value) : isMacroString(value);
  const mechanism = term.replace(QUALIFIED, '');
  if (ALL.test(mechanism) || POINTER.test(mechanism)) return true;
  const [, target] = OF_DOMAIN.exec(mechanism) ?? [];
  if (target !== undefined) return isDomainSpec(target);
  const [host, domain, ...lengths] = OF_HOST.exec(mechanism) ?? [];
  if (host !== undefined) return areLengths(lengths) && (domain === undefined || isDomainSpec(domain));
  const [, family, address = '', length] = NETWORK.exec(mechanism) ?? [];
  if (family === '4') return isIPv4(address) && areLengths([length, undefined]);
  return family === '6' && isIPv6(address) && areLengths([undefined, length]);
}

/** The lengths of a network of IPv4 and of one of IPv6. */
const areLengths = ([short, long]: readonly (string | undefined)[]): boolean =>
  Number(short ?? 0) <= 32 && Number(long ?? 0) <= 128;

const isMacroString = (text: string): boolean => LITERALS.test(text.replace(MACRO, ''));

/** A domain as terms name it: it ends in a macro, or in a dot and a label. */
const isDomainSpec = (text: string): boolean =>
  isMacroString(text) && (LAST_LABEL.test(text) || ENDS_IN_MACRO.test(text));
