import type { ReportReceived } from '../../../../machines/email/context.ts';
import { envelopeAddress } from '../../../mail/compose/envelope.ts';
import type { BounceReport, Fact, Feedback } from '../../../mail/inbound/feedback.ts';
import { storableTexts } from '../../../platform/db/storable.ts';
import { WORDS_MAX_LENGTH } from '../send/outcome.ts';

type Report = ReportReceived['report'];

/** One spelling of an address: providers write hosts in ASCII or not, in any case. */
export const canonical = (address: string): string => envelopeAddress(address).toLowerCase();

/** True when both are the same mailbox; the tag of a local part is the mailbox's own. */
export const isSameMailbox = (one: string, other: string): boolean =>
  canonical(one).replace(/\+[^@]*/, '') === canonical(other).replace(/\+[^@]*/, '');

/**
 * The one fact of a report about one recipient. Its blocks are about the targets of an alias where there are
 * several: what one of them has got has arrived, and the alias is not dead because a target is. `isRecipient`
 * is true for the address of the recipient.
 */
export const verdictOf = (
  facts: readonly Feedback[],
  isRecipient: (failing: string) => boolean,
): Fact | null => {
  const arrived =
    facts.find(({ kind }) => kind === 'delivered') ?? facts.find(({ kind }) => kind === 'passedOn');
  if (arrived) return arrived;
  const bounces = facts.filter((one): one is Feedback & BounceReport => one.kind === 'bounced');
  const worst = bounces.find(({ permanent }) => permanent) ?? bounces[0];
  if (!worst) return facts[0] ?? null;
  const provesDead = bounces.every(
    ({ suppresses, failing }) => suppresses && (failing === null || isRecipient(failing)),
  );
  return { ...worst, suppresses: provesDead };
};

/** In the place of the texts of other servers, which often repeat the address. */
const NOT_KEPT = 'The recipient was forgotten, so the reply is not kept.';

/** A fact about a forgotten person. */
export const withoutWords = (fact: Fact): Fact =>
  fact.kind === 'bounced'
    ? { ...fact, message: NOT_KEPT }
    : fact.kind === 'delivered'
      ? { ...fact, response: NOT_KEPT }
      : fact.kind === 'unread'
        ? { ...fact, subject: NOT_KEPT }
        : fact;

/**
 * The report for the machine; null for what changes nothing: a delay, after which the other server continues
 * trying.
 */
export function reportOf(given: Fact): Omit<Report, 'recipient'> | null {
  const fact = storableTexts(given, WORDS_MAX_LENGTH);
  if (fact.kind === 'delivered') {
    const { remoteMta, response } = fact;
    return { type: 'delivered', data: { remoteMta, response } };
  }
  if (fact.kind === 'complained') {
    const { feedbackType, userAgent } = fact;
    return { type: 'complained', data: { feedbackType, userAgent } };
  }
  if (fact.kind !== 'bounced') return null;
  const { permanent, isFinal, suppresses, smtpCode, enhancedCode, message, remoteMta } = fact;
  // As for the retries here: a server that gave up after temporary failures reports `expired`.
  const expired = isFinal && !permanent;
  const subType = expired ? 'expired' : fact.subType;
  const data = { subType, smtpCode, enhancedCode, message, remoteMta };
  return { type: 'bounced', permanent, ...(expired && { expired }), suppresses, data };
}
