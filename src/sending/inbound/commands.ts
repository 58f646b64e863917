import { Refusal } from '../../mail/inbound/smtp-server.ts';
import { valueOfField } from '../../mail/raw/header-editor.ts';
import { fieldsOf, headerFacts, isReport } from '../../mail/received/header.ts';
import type { PurposeDoor } from '../../mail/received/inbound-server.ts';
import type { Signer } from '../../platform/crypto/signer.ts';
import type { Destination } from '../emails/queries.ts';
import { readLeaveAddress } from '../tracking/api.ts';

/**
 * Unsubscribes the recipient of a copy; false for an email that is not kept any more. @throws
 * UnavailableError
 */
export type LeaveByMail = (copy: Destination) => Promise<boolean>;

interface LeavingParts {
  readonly signer: Signer;
  readonly leaveByMail: LeaveByMail;
}

const GONE = new Refusal(550, '5.1.1 This address unsubscribes no one any more; use the link in the email');

const ANSWER = new Refusal(
  550,
  '5.7.1 A report or an automatic answer unsubscribes no one; use the link in the email',
);

/** The subject that mail programs write for an address without one. */
const ASKED = /^\s{0,9}(?:unsubscribe\b|$)/i;

/**
 * True for a report, or for what a program answers by itself (RFC 3834), such as that a person is away: that
 * is no act of the person. Programs that unsubscribe for a person mark their mail in the same way (Apple
 * Mail: `Auto-Submitted: auto-replied`), and say so in the subject.
 */
function isAnswerOfProgram(raw: Buffer): boolean {
  const fields = fieldsOf(raw);
  if (isReport(fields)) return true;
  const subject = fields.find(({ name }) => name === 'subject');
  return headerFacts(fields).isAutomatic && !ASKED.test(subject ? valueOfField(subject) : '');
}

/**
 * Unsubscribes the recipients that addresses in List-Unsubscribe name. The address decides, as the link
 * beside it does: neither the sender nor the text counts, since people have several addresses, and some
 * programs send with a null sender. Nor does the domain: emails that left before the return path had another
 * one are answered for years, and the token is signed. `none` where no address is one; `answer` where no
 * person asked for it; `gone` where an email is not kept any more. @throws UnavailableError
 */
export async function leaveAll(
  { signer, leaveByMail }: LeavingParts,
  addresses: readonly string[],
  raw: Buffer,
): Promise<'none' | 'answer' | 'left' | 'gone'> {
  const copies = new Map(
    addresses.flatMap((address) => {
      const copy = readLeaveAddress(address, signer);
      // One mail may name a recipient at many hosts.
      return copy ? [[`${copy.emailId} ${copy.recipient}`, copy] as const] : [];
    }),
  );
  if (copies.size === 0) return 'none';
  if (isAnswerOfProgram(raw)) return 'answer';
  let end: 'left' | 'gone' = 'left';
  for (const copy of copies.values()) if (!(await leaveByMail(copy))) end = 'gone';
  return end;
}

/** Takes mail to those addresses at the port. */
export const leavingDoor = (parts: LeavingParts): PurposeDoor => ({
  takes: (address) => readLeaveAddress(address, parts.signer) !== null,
  async take({ recipients, raw }) {
    const end = await leaveAll(parts, recipients, raw);
    if (end === 'gone') throw GONE;
    if (end === 'answer') throw ANSWER;
    return true;
  },
});
