import ipaddr from 'ipaddr.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;
export type Range = readonly [base: Address, bits: number];

/**
 * Finds the address that a request counts against, from the socket's address and the `X-Forwarded-For`
 * header.
 */
export type ClientAddress = (socketAddress: string, headers: Headers) => string;

/** The value of `TRUST_PROXY`: the number of proxies in front of the service, or their addresses. */
export type TrustedProxies = { readonly hops: number } | { readonly ranges: readonly Range[] };

/**
 * Reads `TRUST_PROXY`: empty, a hop count (`1`), or addresses and CIDR ranges separated by commas.
 * Null when it is none of them; the configuration then reports it and the service does not start.
 */
export function parseTrustedProxies(text: string): TrustedProxies | null {
  const setting = text.trim();
  if (setting === '') return { hops: 0 };
  if (/^\d{1,2}$/.test(setting)) return { hops: Number(setting) };
  const ranges = parseRanges(setting);
  return ranges && { ranges };
}

/** Reads addresses and CIDR ranges separated by commas; null when one of them is neither. */
export function parseRanges(text: string): readonly Range[] | null {
  const ranges = text.split(',').map((entry) => parseRange(entry.trim()));
  return ranges.every((range) => range !== null) ? ranges : null;
}

/** Tells whether an address is within the ranges; none is where there are no ranges. */
export const isWithinRanges =
  (ranges: readonly Range[] | null) =>
  (address: string): boolean =>
    ranges !== null && isWithin(address, ranges);

/**
 * Finds the client of a request. Only the entries of `X-Forwarded-For` that trusted proxies wrote are
 * believed. They are the last ones, because each proxy appends the address it saw; the client can invent
 * everything before them.
 */
export function clientAddress(proxies: TrustedProxies): ClientAddress {
  if ('hops' in proxies && proxies.hops === 0) return clientKey;
  const isTrusted = (address: string, hop: number) =>
    'hops' in proxies ? hop < proxies.hops : isWithin(address, proxies.ranges);
  return (socketAddress, headers) => {
    const entries = headers.get('x-forwarded-for')?.split(',') ?? [];
    let client = socketAddress;
    for (let hop = 0; hop < entries.length && isTrusted(client, hop); hop++) {
      const entry = withoutPort(entries.at(-1 - hop)?.trim() ?? '');
      if (!parseAddress(entry)) break;
      client = entry;
    }
    return clientKey(client);
  };
}

/**
 * The name under which an address is counted. IPv4 inside IPv6 is the same client as IPv4. An IPv6 client is
 * counted by its /64, which is the least that one subscriber is given (RFC 6177) and could otherwise rotate
 * through.
 */
export function clientKey(address: string): string {
  if (!address.includes(':')) return address;
  const parsed = parseAddress(address);
  if (!(parsed instanceof ipaddr.IPv6)) return parsed?.toString() ?? address;
  const network = parsed.parts.slice(0, 4).map((part) => part.toString(16));
  return `${network.join(':')}::/64`;
}

/** Reads four-part dotted decimal or IPv6. The library alone would also accept `1` and `0x7f.1`. */
function parseAddress(text: string): Address | null {
  const isWritten = text.includes(':') ? ipaddr.IPv6.isValid(text) : ipaddr.IPv4.isValidFourPartDecimal(text);
  return isWritten ? ipaddr.process(text) : null;
}

function parseRange(entry: string): Range | null {
  const slash = entry.indexOf('/');
  const base = parseAddress(slash === -1 ? entry : entry.slice(0, slash));
  if (!base) return null;
  const widest = base.kind() === 'ipv4' ? 32 : 128;
  if (slash === -1) return [base, widest];
  const bits = entry.slice(slash + 1);
  return /^\d{1,3}$/.test(bits) && Number(bits) <= widest ? [base, Number(bits)] : null;
}

function isWithin(text: string, ranges: readonly Range[]): boolean {
  const address = parseAddress(text);
  return ranges.some(([base, bits]) => address?.kind() === base.kind() && address.match(base, bits));
}

/** Some proxies write `192.0.2.1:4711` or `[2001:db8::1]:4711`. */
function withoutPort(entry: string): string {
  if (entry.startsWith('[')) return entry.slice(1, entry.indexOf(']'));
  const colon = entry.indexOf(':');
  return colon !== -1 && colon === entry.lastIndexOf(':') ? entry.slice(0, colon) : entry;
}
