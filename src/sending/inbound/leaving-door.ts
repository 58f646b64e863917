import { Refusal } from '../../mail/inbound/smtp-server.ts';
import { leaveTokenOf } from '../../mail/inbound/verp.ts';
import type { PurposeDoor } from '../../mail/received/inbound-server.ts';
import type { Signer } from '../../platform/crypto/signer.ts';
import { readLeaveToken } from '../emails/queries.ts';
import type { LeaveByMail } from './api.ts';

interface LeavingParts {
  readonly signer: Signer;
  readonly leaveByMail: LeaveByMail;
}

const GONE = new Refusal(
  550,
  '5.1.1 The email is not kept any more, so this address unsubscribes no one; use the link in the email',
);

/**
 * Takes mail to the addresses in List-Unsubscribe. Every mail to one unsubscribes its recipient, whatever it says and whoever sent it: the
 * token proves itself, as the link beside it does, and people have several addresses. Apple Mail writes `Auto-Submitted: auto-replied`,
 * others a null sender.
 */
export const leavingDoor = ({ signer, leaveByMail }: LeavingParts): PurposeDoor => ({
  takes: (address) => copyOf(address, signer) !== null,
  async take({ recipients }) {
    let isKnown = true;
    for (const address of recipients) {
      const copy = copyOf(address, signer);
      if (copy && !(await leaveByMail(copy))) isKnown = false;
    }
    if (!isKnown) throw GONE;
    return true;
  },
});

/** The copy whose recipient an address unsubscribes; null for any other address. */
export function copyOf(address: string, signer: Signer): ReturnType<typeof readLeaveToken> {
  const token = leaveTokenOf(address);
  return token === null ? null : readLeaveToken(token, signer);
}
