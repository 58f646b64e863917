/** The part of an address before its `@`, by which mailboxes differ. */
import { asciiHost } from './host.ts';

const QUOTED = /^"(?:[^"\\]|\\.)*"$/s;

/** A local part without its quotes (RFC 5321 4.1.2): `"a.b"@` and `a.b@` are one mailbox. */
export const unquotedLocal = (local: string): string =>
  QUOTED.test(local) ? local.slice(1, -1).replace(/\\(.)/gs, '$1') : local;

/**
 * The form in which local parts are compared: RFC 5321 2.4 leaves their case to the receiver, and no receiver
 * tells cases apart.
 */
export const normalLocalPart = (text: string): string => text.normalize('NFC').toLowerCase();

/**
 * The form in which mailboxes are compared, those included that this service sends nothing to: other people
 * write from them. That of an address which `parseAddress` takes is its `key`.
 */
export function mailboxKey(address: string): string {
  const at = address.lastIndexOf('@');
  if (at === -1) return normalLocalPart(address);
  const host = address.slice(at + 1);
  return `${normalLocalPart(unquotedLocal(address.slice(0, at)))}@${asciiHost(host) ?? host.toLowerCase()}`;
}
