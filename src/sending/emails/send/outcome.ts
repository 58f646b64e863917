import type { EmailEvent } from '../../../../machines/email/context.ts';
import type { RecipientOutcome } from '../../../../machines/email/recipient.ts';
import { provesAddressDead } from '../../../mail/transport/smtp/reply.ts';
import type { RecipientOutcome as Sent, Transport } from '../../../mail/transport/transport.ts';
import type { BodyLost } from '../../../platform/bodies/body-store.ts';
import { storableText, storableTexts } from '../../../platform/db/storable.ts';
import type { SenderProblem } from '../transports/senders.ts';

/** The result of one copy. */
export interface AttemptResult {
  /** Index over to, cc and bcc. */
  readonly recipient: number;
  readonly sent: Sent;
  readonly by: Pick<Transport, 'name' | 'confirmsDelivery'>;
}

/** The outcome of a recipient that nothing was sent to. */
export type NotAttempted = RecipientOutcome;

/** The most UTF-16 units of a server's answer that an event keeps, since the server chose its length. */
export const WORDS_MAX_LENGTH = 1_000;

/**
 * The events of an attempt for the machine: its outcomes, and the deliveries that the transport can confirm.
 */
export function eventsOfAttempt(
  { attempt, by, uncounted = false }: { attempt: number; by: string; uncounted?: boolean },
  messageId: string,
  copies: readonly AttemptResult[],
  untried: readonly NotAttempted[],
  at: number,
): readonly EmailEvent[] {
  const tried = copies.map((one) => ({ ...one, sent: storableTexts(one.sent, WORDS_MAX_LENGTH) }));
  const outcomes = [...untried, ...tried.map((one) => outcomeOf(one, messageId))];
  const delivered = tried.filter(({ sent, by }) => sent.outcome === 'accepted' && by.confirmsDelivery);
  return [
    {
      type: 'attempt.completed',
      at,
      attempt,
      by,
      outcomes: outcomes.toSorted((a, b) => a.recipient - b.recipient),
      ...(uncounted && { uncounted: true as const }),
    },
    ...delivered.map(
      ({ recipient, sent: { remoteMta, response } }): EmailEvent => ({
        type: 'report.received',
        at,
        report: { type: 'delivered', recipient, data: { remoteMta, response } },
      }),
    ),
  ];
}

function outcomeOf({ recipient, sent, by }: AttemptResult, messageId: string): RecipientOutcome {
  const { outcome, response } = sent;
  if (outcome === 'accepted') {
    const data = {
      provider: by.name,
      messageId: sent.providerId ?? messageId,
      response,
      ...wayOf(sent),
      ...(sent.isUnreported && { isUnreported: true }),
    };
    return { recipient, outcome, data };
  }
  const { subType, smtpCode, enhancedCode, remoteMta } = sent;
  const data = { subType, smtpCode, enhancedCode, message: response, remoteMta, ...wayOf(sent) };
  if (outcome !== 'refused') return { recipient, outcome, data };
  // Only a fault of the recipient says something about the address: a refused message, or our own bad
  // reputation, does not.
  const reason = sent.fault === 'recipient' ? 'bounced' : 'rejected';
  return { recipient, outcome, reason, suppresses: provesAddressDead(sent), data };
}

/** Which of several relays was asked, and why not an earlier one, or an earlier transport. */
const wayOf = ({ relay, passedOver = [] }: Sent): object => ({
  ...(relay !== undefined && { relay }),
  ...(passedOver.length > 0 && {
    passedOver: passedOver.map((one) => storableText(one, WORDS_MAX_LENGTH)),
  }),
});

const ours = (message: string) => ({
  subType: 'General',
  smtpCode: null,
  enhancedCode: null,
  message,
  remoteMta: null,
});

/** The outcomes of emails that cannot leave, known before any server is asked. */
export const PRECHECK_FAILURES = {
  removed: {
    outcome: 'removed',
    data: ours('The sending domain was removed before the email left'),
  },
  transportDisabled: {
    outcome: 'deferred',
    data: ours('The provider that its sending domain has chosen is not enabled here (TRANSPORT)'),
  },
  keysSealed: {
    outcome: 'deferred',
    data: ours(
      'The keys that sign for its domain cannot be opened: SECRET_KEY is not the one that they were sealed with',
    ),
  },
  archived: { outcome: 'deferred', data: ours('The workspace is archived') },
  unverified: { outcome: 'deferred', data: ours('The sending domain is not verified any more') },
  pruned: { outcome: 'refused', reason: 'rejected', data: ours('Its content is not kept any more') },
  // A setting that names another bucket loses every body at once, so no email is given up before the operator
  // can have noticed.
  'body-missing': {
    outcome: 'deferred',
    data: ours('Its content is not in BODY_STORE: see whether that is still the bucket it was written to'),
  },
  'body-damaged': {
    outcome: 'deferred',
    data: ours('Its content in BODY_STORE is not what was written there'),
  },
} as const satisfies Record<
  SenderProblem | 'pruned' | `body-${BodyLost['what']}`,
  Omit<RecipientOutcome, 'recipient'>
>;

/** The outcome where the content of a campaign cannot be rendered for one of its recipients. */
export const failureToMake = (why: string): Omit<RecipientOutcome, 'recipient'> => ({
  outcome: 'refused',
  reason: 'rejected',
  data: ours(`It cannot be rendered for this recipient: ${why}`.slice(0, WORDS_MAX_LENGTH)),
});
