import ipaddr from 'ipaddr.js';

/** The first octets of the PROXY protocol, version 2. */
export const SIGNATURE = Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1');

interface HeaderParts {
  /** 0: the balancer's own connection; 1: that of a client. */
  readonly command?: number;
  /** 0x11: IPv4 over TCP; 0x21: IPv6 over TCP. */
  readonly family?: number;
  /** Octets behind the addresses. */
  readonly more?: Buffer;
}

/** A header of the PROXY protocol, version 2; without a client that of a health check. */
export function binaryHeader(client: string | null, parts: HeaderParts = {}): Buffer {
  const source = client === null ? [] : ipaddr.parse(client).toByteArray();
  const { more = Buffer.alloc(0) } = parts;
  const { command = client === null ? 0 : 1, family = source.length === 16 ? 0x21 : 0x11 } = parts;
  const addresses = client === null ? [] : [...source, ...source.map(() => 1), 0x12, 0x67, 0, 25];
  const length = addresses.length + more.length;
  const fixed = [0x20 | command, client === null ? (parts.family ?? 0) : family, length >> 8, length & 255];
  return Buffer.concat([SIGNATURE, Buffer.from(fixed), Buffer.from(addresses), more]);
}
