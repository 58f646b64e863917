import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Names that the public DNS does not answer: without a dot, of this machine or network (RFC 6761, 6762, 8375), or of a home. */
const PRIVATE_NAME = /^[^.]+$|\.(?:localhost|local|internal|home\.arpa|lan)$/;

/** True where other mail servers can find a host: a name of the public DNS, or a public address. */
export function isReachable(host: string): boolean {
  const name = host.toLowerCase().replace(/\.$/, '');
  return isIP(name) === 0 ? !PRIVATE_NAME.test(name) : ipaddr.process(name).range() === 'unicast';
}
