/**
 * VERP: the envelope sender names the message, so that a bounce names it too, whatever else it contains.
 * `b+<token>@domain`. The token is the caller's: at most 62 characters of lower-case letters, digits, `.`,
 * `_` and `-`, since a local part ends at 64 octets and servers on the way change case.
 */
const TOKEN = /^[a-z0-9._-]{1,62}$/;

/** The return path for a token. @throws RangeError when the token would not survive other servers */
export const returnPathFor = (token: string, domain: string): string => {
  if (!TOKEN.test(token))
    throw new RangeError('A VERP token has 1 to 62 characters of a-z, 0-9, ".", "_" and "-".');
  return `b+${token}@${domain}`;
};

/**
 * The address by which the recipient of a copy unsubscribes (RFC 2369 3.2), with a token that only this copy
 * shows.
 */
export const leaveAddressFor = (token: string, domain: string): string => `u+${token}@${domain}`;

const LEAVE = /^u\+([^@]+)@/i;

/** The token of an address to unsubscribe; null for any other address. */
export const leaveTokenOf = (address: string): string | null => {
  const token = LEAVE.exec(address)?.[1]?.toLowerCase();
  return token !== undefined && TOKEN.test(token) ? token : null;
};

/**
 * The return path of a forwarded message, in the form of the Sender Rewriting Scheme whose first sender lies
 * in a database: what is between the signature, the day and the domain is opaque to all others. It has the
 * same length for every sender, so that a sender that another forwarder has rewritten needs no SRS1. `token`:
 * `<email>.<recipient>.<signature>.<day>`.
 */
export const srsPathFor = (token: string, domain: string): string => {
  const [email = '', recipient = '', signature = '', day = ''] = token.split('.');
  return `SRS0=${signature}=${day}=${recipient}=${email}@${domain}`;
};

const SRS = /^SRS0[=+-]([a-z0-9]+)=([a-z0-9]{2})=(\d{1,2})=([a-z0-9]+)@/i;

/** The token of a return path; null for any other address. */
export const tokenOf = (address: string): string | null => {
  const [, signature, day, recipient, email] = SRS.exec(address)?.map((part) => part.toLowerCase()) ?? [];
  if (signature !== undefined) return `${email}.${recipient}.${signature}.${day}`;
  const token = /^b\+([^@]+)@/i.exec(address)?.[1]?.toLowerCase();
  return token !== undefined && TOKEN.test(token) ? token : null;
};
