/** The terms of SPF records (RFC 7208 12). */
import { isIPv4, isIPv6 } from 'node:net';

const MECHANISM =
  /^[-+?~]?(?:all|(?:include|exists):\S+|ptr(?::\S+)?|(?:a|mx)(?::[^\s/]\S*?)?(?:\/\d{1,2})?(?:\/\/\d{1,3})?)$/i;
const NETWORK = /^[-+?~]?ip([46]):([^/]+)(?:\/(\d{1,3}))?$/i;
/** Unknown ones are allowed. */
const MODIFIER = /^[a-z][a-z\d._-]*=\S*$/i;
/** Each may be there once (RFC 7208 6). */
const SINGLE = /^(?:redirect|exp)=/i;

/** The term for which receivers take the whole record for a permanent error (RFC 7208 4.6); null where there is none. */
export function wrongTerm(policy: string): string | null {
  const terms = policy.trim().split(/ +/).slice(1);
  const names = terms.flatMap((term) => SINGLE.exec(term)?.[0].toLowerCase() ?? []);
  const repeated = names.find((name, index) => names.indexOf(name) !== index);
  return terms.find((term) => !isTerm(term)) ?? (repeated === undefined ? null : `two of ${repeated}`);
}

function isTerm(term: string): boolean {
  const [, family, address = '', length] = NETWORK.exec(term) ?? [];
  if (family === undefined) return MECHANISM.test(term) || MODIFIER.test(term);
  const isAddress = family === '4' ? isIPv4(address) : isIPv6(address);
  return isAddress && Number(length ?? 0) <= (family === '4' ? 32 : 128);
}
