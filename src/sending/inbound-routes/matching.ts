import { asciiHost } from '../../platform/text/host.ts';
import { normalLocalPart, unquotedLocal } from '../../platform/text/local-part.ts';

/** The part of a route that decides which addresses of its domain it takes. */
export interface RouteMatch {
  readonly id: string;
  readonly matchType: 'exact' | 'prefix' | 'catchAll';
  /** In the form of `normalLocalPart`; null of a catchAll. */
  readonly localPart: string | null;
  /** The lowest number wins. */
  readonly priority: number;
}

/** The recipient of a message, divided as routes look at it. */
export interface Recipient {
  /** As the sender wrote it. */
  readonly address: string;
  /** The local part without its tag, in the form in which local parts are compared. */
  readonly name: string;
  /** The text after the first plus of the local part, as it was written; null without one. */
  readonly tag: string | null;
  /** In lower-case ASCII. */
  readonly domain: string;
}

/** RFC 5321 4.5.3.1.1 and 4.5.3.1.3. */
const LONGEST_LOCAL = 64;
const LONGEST_ADDRESS = 254;

/** Reads the address of RCPT; null for one that no route can take. */
export function readRecipient(address: string): Recipient | null {
  const at = address.lastIndexOf('@');
  const domain = at < 1 ? null : asciiHost(address.slice(at + 1));
  if (domain === null || Buffer.byteLength(address) > LONGEST_ADDRESS) return null;
  const local = unquotedLocal(address.slice(0, at));
  // RFC 5321 4.1.2: no mailbox has control characters, and no header or table takes them.
  if (local === '' || Buffer.byteLength(local) > LONGEST_LOCAL || /\p{Cc}/u.test(local)) return null;
  // A plus at the beginning is a name and no tag.
  const plus = local.indexOf('+', 1);
  return {
    address,
    name: normalLocalPart(plus === -1 ? local : local.slice(0, plus)),
    tag: plus === -1 ? null : local.slice(plus + 1),
    domain,
  };
}

const takes = ({ matchType, localPart }: RouteMatch, { name }: Recipient): boolean =>
  matchType === 'catchAll' ||
  (matchType === 'exact' ? name === localPart : localPart !== null && name.startsWith(localPart));

/** The order of the kinds of match where priorities are equal. */
const RANK: Readonly<Record<RouteMatch['matchType'], number>> = { exact: 0, prefix: 1, catchAll: 2 };

/**
 * True when `one` comes before `other`: by the lower priority, then exact before prefix before catchAll, the
 * longer prefix, and the route that was created first.
 */
function precedes(one: RouteMatch, other: RouteMatch): boolean {
  if (one.priority !== other.priority) return one.priority < other.priority;
  if (one.matchType !== other.matchType) return RANK[one.matchType] < RANK[other.matchType];
  const longer = (one.localPart?.length ?? 0) - (other.localPart?.length ?? 0);
  return longer === 0 ? one.id < other.id : longer > 0;
}

/** The route that takes a recipient, of those of its domain; null when none does. */
export function routeFor<Route extends RouteMatch>(
  routes: readonly Route[],
  recipient: Recipient,
): Route | null {
  let best: Route | null = null;
  for (const route of routes)
    if (takes(route, recipient) && (best === null || precedes(route, best))) best = route;
  return best;
}
