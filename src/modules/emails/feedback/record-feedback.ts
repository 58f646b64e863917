import type { ReportReceived } from '../../../../machines/email-context.ts';
import type { Signer } from '../../../crypto/signer.ts';
import type { Database } from '../../../db/database.ts';
import { storableTexts } from '../../../db/storable.ts';
import type { Engine } from '../../../engine/engine.ts';
import { Unavailable } from '../../../errors/unavailable.ts';
import type { Clock } from '../../../time/clock.ts';
import type { Feedback } from '../../../transport/inbound/feedback.ts';
import { envelopeAddress } from '../../../transport/message/envelope.ts';
import { WORDS_MAX_LENGTH } from '../send/outcome.ts';
import { type Destination, readReturnToken } from '../send/return-token.ts';
import { suppressRefused } from './late-suppression.ts';

/** What recording feedback needs. */
export interface FeedbackParts {
  readonly database: Database;
  readonly engine: Pick<Engine, 'tell'>;
  readonly signer: Signer;
  readonly clock: Clock;
}

type Report = ReportReceived['report'];

/** Tells emails what came back about them. */
export type RecordFeedback = (feedback: readonly Feedback[], isVouched: boolean) => Promise<void>;

/**
 * Tells emails what came back about them. `isVouched`: the sender of the feedback was authenticated, so that an id in it may be
 * believed; otherwise only what was signed here counts. Resolves once it is durable; what names no email of ours says
 * nothing. @throws Unavailable when it is to be told again: the database is away, or the email has not left yet.
 */
export function feedbackRecorder({ database, engine, signer, clock }: FeedbackParts): RecordFeedback {
  return async (feedback, isVouched) => {
    for (const one of feedback) {
      const report = reportOf(one);
      const destination = report && (await destinationOf(one, isVouched));
      if (!report || !destination) continue;
      const { emailId, recipient } = destination;
      const event: ReportReceived = {
        type: 'report.received',
        at: clock.now(),
        report: { ...report, recipient },
      };
      const told = await engine.tell('email', emailId, event);
      if (told.outcome !== 'refused') continue;
      const { context } = told;
      // A receiver can be faster than our own commit; whoever brought this brings it again.
      if (told.state === 'sending' && context.recipients[recipient]?.status === 'pending')
        throw new Unavailable('The attempt it is about has not ended yet.', 'no', 60);
      await suppressRefused(database, emailId, context, event);
    }
  };

  async function destinationOf(
    { reference, recipient }: Feedback,
    isVouched: boolean,
  ): Promise<Destination | null> {
    const named = reference.token === null ? null : readReturnToken(reference.token, signer);
    if (named) return named;
    const { emailId } = reference;
    if (!isVouched || emailId === null || recipient === null) return null;
    const [row] = await database.query<{ recipients: readonly string[] }>(
      'select recipients from emails where id = $1 and livemode',
      [emailId],
    );
    const sought = canonical(recipient);
    const index = row?.recipients.findIndex((address) => canonical(address) === sought) ?? -1;
    return index === -1 ? null : { emailId, recipient: index };
  }
}

/** Providers write addresses as they like: hosts in ASCII or not, in any case. */
const canonical = (address: string): string => envelopeAddress(address).toLowerCase();

/** What the machine is told; null for what is no event: whoever has the message is still trying. */
function reportOf(told: Feedback): Omit<Report, 'recipient'> | null {
  const feedback = storableTexts(told, WORDS_MAX_LENGTH);
  if (feedback.kind === 'delivered') {
    const { remoteMta, response } = feedback;
    return { type: 'delivered', data: { remoteMta, response } };
  }
  if (feedback.kind === 'complained') {
    const { feedbackType, userAgent } = feedback;
    return { type: 'complained', data: { feedbackType, userAgent } };
  }
  if (feedback.kind === 'delayed') return null;
  const { permanent, suppresses, subType, smtpCode, enhancedCode, message, remoteMta } = feedback;
  const data = { subType, smtpCode, enhancedCode, message, remoteMta };
  return { type: 'bounced', permanent, suppresses, data };
}
