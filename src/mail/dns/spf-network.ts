import ipaddr from 'ipaddr.js';

const NETWORK = /^ip[46]:(.+)$/;

/**
 * True for a term that lets through what a mechanism of an SPF record names: the same mechanism, or a network
 * around its address. A plus before a term says what is the case without it (RFC 7208 4.6.2). Both are in
 * lower case.
 */
export function allows(term: string, mechanism: string): boolean {
  const bare = term.replace(/^\+/, '');
  if (bare === mechanism) return true;
  const [outer, inner] = [networkIn(bare), networkIn(mechanism)];
  if (outer === null || inner === null || outer[0].kind() !== inner[0].kind()) return false;
  return outer[1] <= inner[1] && inner[0].match(outer);
}

/**
 * The term that names a server and does not let it through, before any that does; null without one. The first
 * term that matches decides (RFC 7208 4.6.2).
 */
export function refusalOf(terms: readonly string[], mechanism: string): string | null {
  const first = terms.find((term) => allows(term.replace(/^[-~?]/, ''), mechanism));
  return first !== undefined && /^[-~?]/.test(first) ? first : null;
}

function networkIn(mechanism: string): ReturnType<typeof ipaddr.parseCIDR> | null {
  const text = NETWORK.exec(mechanism)?.[1] ?? '';
  const network = text.includes('/') ? text : `${text}/${text.includes(':') ? 128 : 32}`;
  return ipaddr.isValidCIDR(network) ? ipaddr.parseCIDR(network) : null;
}
