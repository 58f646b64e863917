import { isIPv4, isIPv6 } from 'node:net';
import ipaddr from 'ipaddr.js';

/** The header by which a balancer says who its client is (PROXY protocol, version 1 or 2). */
export interface ProxyHeader {
  /** The address of the client; null for a connection of the balancer itself, such as a health check. */
  readonly client: string | null;
  /** The octets of the header; what follows is the client's. */
  readonly octets: number;
}

/** The first octets of version 2, which no mail client begins with. */
const SIGNATURE = Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1');
/** The header of a connection that a balancer makes for itself. */
export const LOCAL_HEADER = `${SIGNATURE.toString('latin1')}\x20\0\0\0`;
const LINE = Buffer.from('PROXY ');
/** Version 1 has at most so many octets, with its CRLF. */
const LONGEST_LINE = 107;
const FIXED = 16;
/**
 * The most octets of version 2. Its length field allows 64 KiB; balancers send their addresses and a few
 * hundred octets about TLS and about the endpoint.
 */
export const LONGEST_HEADER = 4_096;

const COMMANDS = { local: 0, proxy: 1 } as const;
/** Families of addresses over TCP, with the octets of their addresses and ports. */
const FAMILIES: ReadonlyMap<number, { readonly source: number; readonly all: number }> = new Map([
  [0x11, { source: 4, all: 12 }],
  [0x21, { source: 16, all: 36 }],
]);
/** The balancer does not know its client, as for version 1 with UNKNOWN. */
const UNSPECIFIED = 0x00;

/**
 * Reads the header that the octets begin with. Without all of it they are `incomplete`; no further octets
 * mend those that are `malformed`.
 */
export function readProxyHeader(octets: Buffer): ProxyHeader | 'incomplete' | 'malformed' {
  if (isBegunBy(octets, SIGNATURE)) return readBinary(octets);
  if (isBegunBy(octets, LINE)) return readLine(octets);
  return 'malformed';
}

/** True where octets begin with others, or are their beginning. */
const isBegunBy = (octets: Buffer, begin: Buffer): boolean => {
  const length = Math.min(octets.length, begin.length);
  return octets.subarray(0, length).equals(begin.subarray(0, length));
};

function readBinary(octets: Buffer): ProxyHeader | 'incomplete' | 'malformed' {
  if (octets.length < FIXED) return 'incomplete';
  const [version, command, family] = [octets.readUInt8(12) >> 4, octets.readUInt8(12) & 15, octets[13] ?? 0];
  const whole = FIXED + octets.readUInt16BE(14);
  const isKnown = version === 2 && (command === COMMANDS.local || command === COMMANDS.proxy);
  if (!isKnown || whole > LONGEST_HEADER) return 'malformed';
  // Addresses of a local connection mean nothing, and are there all the same: a balancer of Amazon sends
  // them.
  const isOwn = command === COMMANDS.local || family === UNSPECIFIED;
  const size = FAMILIES.get(family);
  if (!isOwn && (size === undefined || whole < FIXED + size.all)) return 'malformed';
  if (octets.length < whole) return 'incomplete';
  if (isOwn || size === undefined) return { client: null, octets: whole };
  // Behind the addresses stand further facts (TLV), of which none matters here.
  const source = octets.subarray(FIXED, FIXED + size.source);
  return { client: plain(ipaddr.fromByteArray([...source]).toString()), octets: whole };
}

const SYNTAX = /^PROXY (?:UNKNOWN(?: .*)?|(TCP[46]) (\S+) (\S+) (\d{1,5}) (\d{1,5}))$/;

function readLine(octets: Buffer): ProxyHeader | 'incomplete' | 'malformed' {
  const line = octets.subarray(0, LONGEST_LINE).toString('latin1');
  const end = line.indexOf('\r\n');
  if (end === -1) return octets.length < LONGEST_LINE ? 'incomplete' : 'malformed';
  const [matched, family, source = '', target = '', ...ports] = SYNTAX.exec(line.slice(0, end)) ?? [];
  if (matched === undefined) return 'malformed';
  if (family === undefined) return { client: null, octets: end + 2 };
  const isAddress = family === 'TCP4' ? isIPv4 : isIPv6WithoutZone;
  const isRight = isAddress(source) && isAddress(target) && ports.every((port) => Number(port) < 65_536);
  return isRight ? { client: plain(source), octets: end + 2 } : 'malformed';
}

const isIPv6WithoutZone = (text: string): boolean => isIPv6(text) && !text.includes('%');

/** IPv4 inside IPv6 is the same client as IPv4. */
const plain = (address: string): string => ipaddr.process(address).toString();
