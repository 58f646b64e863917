import { Type } from '@sinclair/typebox';
import { Failure } from '../../http/failure.ts';
import type { Log } from '../../http/log.ts';
import { Document, type Route, route } from '../../http/route.ts';
import type { Feedback } from '../../transport/inbound/feedback.ts';
import { readSesEvent } from '../../transport/ses/ses-events.ts';
import { NotGenuine, readSnsMessage, type SnsCheck } from '../../transport/ses/sns-message.ts';

/** What the notifications of SES need. */
export interface SesCallbackDeps {
  /** The SNS topic that is believed; null where none is, and nothing is taken. */
  readonly sesTopicArn: string | null;
  readonly fetchCertificate: SnsCheck['fetchCertificate'];
  /** Confirms a subscription by asking for its address. */
  confirm(url: string): Promise<unknown>;
  readonly recordFeedback: (feedback: readonly Feedback[], isVouched: boolean) => Promise<void>;
  readonly log: Log;
}

const OFF = new Failure(
  'NOT_FOUND',
  'Notifications of Amazon SES are not taken here: SES_TOPIC_ARN is not set.',
);
const REFUSED = new Failure('FORBIDDEN', 'This is no notification of the topic that is listened to.');
const TAKEN = new Document(null, null, { status: 204 });

/** SNS comes from few addresses, at the rate of the mail that was sent. */
const PER_MINUTE = 60_000;

/** Where Amazon reports what became of email that left through SES. */
export const sesRoutes = (deps: SesCallbackDeps): readonly Route[] => [
  route({
    method: 'POST',
    path: '/callbacks/ses',
    permission: 'public',
    ipLimitPerMinute: PER_MINUTE,
    summary: 'Take a notification of Amazon SES, by SNS',
    // SNS calls its JSON text, and sends it so.
    mediaTypes: ['text/plain'],
    body: Type.Unsafe<Uint8Array>({ type: 'string' }),
    bodyLimit: 524_288,
    response: Type.Null(),
    status: 204,
    failures: ['FORBIDDEN', 'NOT_FOUND'],
    handle: async ({ body }) => {
      const { sesTopicArn, fetchCertificate, confirm, recordFeedback, log } = deps;
      if (sesTopicArn === null) return OFF;
      const acceptsTopic = (topicArn: string): boolean => topicArn === sesTopicArn;
      const sns = await readSnsMessage(Buffer.from(body).toString(), { acceptsTopic, fetchCertificate });
      if (sns instanceof NotGenuine) {
        log.warn({ reason: sns.reason }, 'A notification was refused.');
        return REFUSED;
      }
      if (sns.type === 'Notification') await recordFeedback(readSesEvent(sns.message), true);
      else if (sns.type === 'SubscriptionConfirmation' && sns.subscribeUrl) await confirm(sns.subscribeUrl);
      return TAKEN;
    },
  }),
];
