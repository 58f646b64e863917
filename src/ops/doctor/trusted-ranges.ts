import ipaddr from 'ipaddr.js';
import type { Range } from '../../platform/config/client-address.ts';

/** Networks that are not routed over the internet (RFC 1918, 6598, 3927, 4193, 4291). */
const PRIVATE = [
  '10.0.0.0/8',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  'fc00::/7',
  'fe80::/10',
  '::1/128',
].map((text) => ipaddr.parseCIDR(text));

/** The bits of the widest public range, for IPv4 and IPv6, that has no strangers in it. */
export interface WidestRange {
  readonly ipv4: number;
  readonly ipv6: number;
}

/** The first of the ranges in which addresses of strangers may be; null where each is private or narrow. */
export function rangeOfStrangers(ranges: readonly Range[], { ipv4, ipv6 }: WidestRange): string | null {
  const wide = ranges.find(
    ([base, bits]) => !isPrivate(base, bits) && bits < (base.kind() === 'ipv4' ? ipv4 : ipv6),
  );
  return wide ? `${wide[0].toString()}/${wide[1]}` : null;
}

const isPrivate = (base: Range[0], bits: number): boolean =>
  PRIVATE.some(([other, least]) => base.kind() === other.kind() && bits >= least && base.match(other, least));
