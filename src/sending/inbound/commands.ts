import { Refusal } from '../../mail/inbound/smtp-server.ts';
import type { PurposeDoor } from '../../mail/received/inbound-server.ts';
import type { Signer } from '../../platform/crypto/signer.ts';
import type { Destination } from '../emails/queries.ts';
import { readLeaveAddress } from '../tracking/api.ts';

/** Unsubscribes the recipient of a copy; false for an email that is not kept any more. @throws UnavailableError */
export type LeaveByMail = (copy: Destination) => Promise<boolean>;

interface LeavingParts {
  readonly signer: Signer;
  readonly leaveByMail: LeaveByMail;
}

const GONE = new Refusal(550, '5.1.1 This address unsubscribes no one any more; use the link in the email');

/**
 * Unsubscribes the recipients that addresses in List-Unsubscribe name. The address alone decides, as the link beside it does: neither the
 * sender nor the text counts, since people have several addresses, Apple Mail writes `Auto-Submitted: auto-replied`, and others send with a
 * null sender. Nor does the domain: emails that left before the return path had another one are answered for years, and the token is signed.
 * `none` where no address is one; `gone` where an email is not kept any more. @throws UnavailableError
 */
export async function leaveAll(
  { signer, leaveByMail }: LeavingParts,
  addresses: readonly string[],
): Promise<'none' | 'left' | 'gone'> {
  const copies = new Map(
    addresses.flatMap((address) => {
      const copy = readLeaveAddress(address, signer);
      // One mail may name a recipient at many hosts.
      return copy ? [[`${copy.emailId} ${copy.recipient}`, copy] as const] : [];
    }),
  );
  let end: 'none' | 'left' | 'gone' = copies.size === 0 ? 'none' : 'left';
  for (const copy of copies.values()) if (!(await leaveByMail(copy))) end = 'gone';
  return end;
}

/** Takes mail to those addresses at the port. */
export const leavingDoor = (parts: LeavingParts): PurposeDoor => ({
  takes: (address) => readLeaveAddress(address, parts.signer) !== null,
  async take({ recipients }) {
    if ((await leaveAll(parts, recipients)) === 'gone') throw GONE;
    return true;
  },
});
