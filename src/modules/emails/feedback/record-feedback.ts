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

/** The services that recording feedback calls. */
export interface FeedbackParts {
  readonly database: Database;
  readonly engine: Pick<Engine, 'tell'>;
  readonly signer: Signer;
  readonly clock: Clock;
}

type Report = ReportReceived['report'];

/** Records feedback: hands each report to the email that it is about. */
export type RecordFeedback = (feedback: readonly Feedback[], isVouched: boolean) => Promise<void>;

/**
 * Records bounces, complaints and delivery reports. `isVouched` means that the sender of the feedback was authenticated, so that
 * an id in it can be trusted; otherwise only a token that was signed here counts. Resolves once everything is durable, and ignores
 * feedback that names no email. @throws Unavailable when the sender has to repeat it: the database is away, or the attempt has
 * not ended yet.
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
      const result = await engine.tell('email', emailId, event);
      if (result.outcome !== 'refused') continue;
      const { context } = result;
      // A receiver can be faster than our own commit, so the sender of the report is asked to repeat it.
      if (result.state === 'sending' && context.recipients[recipient]?.status === 'pending')
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

/** One spelling of an address: providers write hosts in ASCII or not, in any case. */
const canonical = (address: string): string => envelopeAddress(address).toLowerCase();

/** The report for the machine; null for a delay, after which the other server goes on trying. */
function reportOf(given: Feedback): Omit<Report, 'recipient'> | null {
  const feedback = storableTexts(given, WORDS_MAX_LENGTH);
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
