import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import type { TrustedProxies } from '../../../http/limits/client-address.ts';

/** Which addresses webhooks may reach beyond the public internet. */
export interface TargetPolicy {
  /** The server is reached from its own machine alone, so its neighbours are the developer's own. */
  readonly allowPrivate: boolean;
  /** `WEBHOOK_ALLOW_CIDRS`: ranges that the operator has opened. */
  readonly allowCidrs: readonly string[];
}

/** Whether a webhook may be sent to this address (IPv4 or IPv6, as a resolver or `URL` writes it). */
export type AddressGuard = (address: string) => boolean;

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** RFC 6052, 2.1: the prefix under which DNS64 shows IPv4 hosts to networks that speak IPv6 alone. */
const NAT64 = ipaddr.IPv6.parse('64:ff9b::');

/** RFC 4291, 2.5.4: all of IPv6 that is handed out today; ipaddr.js calls the unassigned rest `unicast` too. */
const GLOBAL_UNICAST = ipaddr.IPv6.parse('2000::');

const PRIVATE_RANGES: ReadonlySet<string> = new Set([
  'loopback',
  'private',
  'carrierGradeNat',
  'uniqueLocal',
]);

/**
 * Where clouds answer with credentials. No policy opens these; some lie in ranges that a policy may open,
 * and Azure's (168.63.129.16) looks like any public address.
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

/** The address that packets really go to: an IPv4 one written inside IPv6 is taken out. */
function unwrapped(address: Address): Address {
  if (!(address instanceof ipaddr.IPv6)) return address;
  if (address.isIPv4MappedAddress()) return address.toIPv4Address();
  return address.match(NAT64, 96) ? new ipaddr.IPv4(address.toByteArray().slice(12)) : address;
}

const isPublic = (address: Address): boolean =>
  address.range() === 'unicast' && (address.kind() === 'ipv4' || address.match(GLOBAL_UNICAST, 3));

/**
 * Builds the guard of a policy. Everything that is not global unicast is refused, the tunnels (6to4, Teredo, SIIT)
 * whole, whatever they carry.
 * @throws when a range of the policy is not CIDR.
 */
export function createAddressGuard({ allowPrivate, allowCidrs }: TargetPolicy): AddressGuard {
  const opened = allowCidrs.map((cidr) => ipaddr.parseCIDR(cidr));
  const isOpened = (address: Address): boolean =>
    opened.some(([range, bits]) => range.kind() === address.kind() && address.match(range, bits));

  return (text) => {
    // ipaddr.js takes the deprecated ::a.b.c.d (RFC 4291, 2.5.5.1) for ::ffff:a.b.c.d, which it is not.
    if (isIP(text) === 0 || text.includes('%') || /^::\d+\./.test(text)) return false;
    const address = unwrapped(ipaddr.parse(text));
    if (METADATA.has(address.toString())) return false;
    return isPublic(address) || isOpened(address) || (allowPrivate && PRIVATE_RANGES.has(address.range()));
  };
}

/** What tells who can reach this server. */
export interface Surroundings {
  readonly host: string;
  readonly publicUrl: string;
  readonly trustProxy: TrustedProxies;
}

/** Whether it is reached from this machine alone. A proxy beside it brings the world to a loopback address, and is named. */
export const isLocalOnly = ({ host, publicUrl, trustProxy }: Surroundings): boolean =>
  isLoopback(host) &&
  isLoopback(new URL(publicUrl).hostname.replace(/^\[(.*)\]$/, '$1')) &&
  'hops' in trustProxy &&
  trustProxy.hops === 0;

const isLoopback = (host: string): boolean =>
  host === 'localhost' || (isIP(host) !== 0 && ipaddr.parse(host).range() === 'loopback');
