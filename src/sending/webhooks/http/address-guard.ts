import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import type { TrustedProxies } from '../../../platform/config/client-address.ts';
import { hostOf } from '../../../platform/text/host.ts';

/** The addresses that webhooks may reach besides the public internet. */
export interface TargetPolicy {
  /**
   * True when the server is only reached from its own machine, so that the private network is the developer's
   * own.
   */
  readonly allowPrivate: boolean;
  /** Ranges that the operator has opened with `WEBHOOK_ALLOW_CIDRS`. */
  readonly allowCidrs: readonly string[];
}

/** Returns true when a webhook may be sent to an address (IPv4 or IPv6, as a resolver or `URL` writes it). */
export type AddressGuard = (address: string) => boolean;

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** The prefix under which DNS64 presents IPv4 hosts to networks with IPv6 only (RFC 6052, 2.1). */
const NAT64 = ipaddr.IPv6.parse('64:ff9b::');

/**
 * All of IPv6 that is assigned today (RFC 4291, 2.5.4). ipaddr.js calls the unassigned rest `unicast` too.
 */
const GLOBAL_UNICAST = ipaddr.IPv6.parse('2000::');

const PRIVATE_RANGES: ReadonlySet<string> = new Set([
  'loopback',
  'private',
  'carrierGradeNat',
  'uniqueLocal',
]);

/**
 * The metadata services of clouds, which return credentials. No policy opens these addresses. Some lie in
 * ranges that a policy may open, and Azure's (168.63.129.16) looks like any public address.
 */
const METADATA: ReadonlySet<string> = new Set([
  '169.254.169.254',
  '169.254.170.2',
  '169.254.170.23',
  '100.100.100.200',
  '168.63.129.16',
  '192.0.0.192',
  'fd00:ec2::254',
  'fd00:ec2::23',
  'fd20:ce::254',
  'fd00:c1::a9fe:a9fe',
]);

/** The address that packets really go to: an IPv4 address inside IPv6 is extracted. */
function unwrapped(address: Address): Address {
  if (!(address instanceof ipaddr.IPv6)) return address;
  if (address.isIPv4MappedAddress()) return address.toIPv4Address();
  return address.match(NAT64, 96) ? new ipaddr.IPv4(address.toByteArray().slice(12)) : address;
}

const isPublic = (address: Address): boolean =>
  address.range() === 'unicast' && (address.kind() === 'ipv4' || address.match(GLOBAL_UNICAST, 3));

/**
 * Builds the guard of a policy. It refuses everything that is not global unicast, and all tunnels (6to4,
 * Teredo, SIIT), whichever address they contain.
 * @throws when a range of the policy is not CIDR.
 */
export function createAddressGuard({ allowPrivate, allowCidrs }: TargetPolicy): AddressGuard {
  const opened = allowCidrs.map((cidr) => ipaddr.parseCIDR(cidr));
  const isOpened = (address: Address): boolean =>
    opened.some(([range, bits]) => range.kind() === address.kind() && address.match(range, bits));

  return (text) => {
    // ipaddr.js confuses the deprecated ::a.b.c.d (RFC 4291, 2.5.5.1) with ::ffff:a.b.c.d.
    if (isIP(text) === 0 || text.includes('%') || /^::\d+\./.test(text)) return false;
    const address = unwrapped(ipaddr.parse(text));
    if (METADATA.has(address.toString())) return false;
    return isPublic(address) || isOpened(address) || (allowPrivate && PRIVATE_RANGES.has(address.range()));
  };
}

/** The settings that determine who can reach this server. */
export interface Surroundings {
  readonly host: string;
  readonly publicUrl: string;
  readonly trustProxy: TrustedProxies;
}

/**
 * True when only this machine can reach the server. A proxy on the same machine opens a loopback address to
 * the world; TRUST_PROXY names it.
 */
export const isLocalOnly = ({ host, publicUrl, trustProxy }: Surroundings): boolean =>
  isLoopback(host) && isLoopback(hostOf(new URL(publicUrl))) && 'hops' in trustProxy && trustProxy.hops === 0;

const isLoopback = (host: string): boolean =>
  host === 'localhost' || (isIP(host) !== 0 && ipaddr.parse(host).range() === 'loopback');
