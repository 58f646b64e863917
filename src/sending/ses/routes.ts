import { Type } from '@sinclair/typebox';
import type { RequestLog } from '../../http/log.ts';
import { RawResponse, type Route, route } from '../../http/request/route.ts';
import type { Feedback } from '../../mail/inbound/feedback.ts';
import { readSesEvent } from '../../mail/transport/ses/ses-events.ts';
import { NotGenuine, readSnsMessage, type SnsCheck } from '../../mail/transport/ses/sns-message.ts';
import { Failure } from '../../platform/errors/failure.ts';
import { UnavailableError } from '../../platform/errors/unavailable.ts';

export interface SesCallbackDeps {
  /** The only SNS topic whose notifications are accepted; null when none are. */
  readonly sesTopicArn: string | null;
  readonly fetchCertificate: SnsCheck['fetchCertificate'];
  /** Confirms a subscription by requesting its URL. */
  confirm(url: string): Promise<unknown>;
  readonly recordFeedback: (feedback: readonly Feedback[], isVouched: boolean) => Promise<void>;
  readonly log: RequestLog;
}

const OFF = new Failure(
  'NOT_FOUND',
  'Notifications of Amazon SES are not accepted: SES_TOPIC_ARN is not set.',
);
const REFUSED = new Failure('FORBIDDEN', 'This is not a notification of the topic in SES_TOPIC_ARN.');
const TAKEN = new RawResponse(null, null, { status: 204 });

/** SNS sends from few addresses, at the rate of the mail, so it needs a high limit. */
const PER_MINUTE = 60_000;

/** The endpoint for the notifications of Amazon SES. */
export const sesRoutes = (deps: SesCallbackDeps): readonly Route[] => [
  route({
    method: 'POST',
    path: '/callbacks/ses',
    permission: 'public',
    ipLimitPerMinute: PER_MINUTE,
    summary: 'Receive a notification of Amazon SES through SNS',
    description:
      'Accepted when SES_TOPIC_ARN names its topic, SNS has signed it in the region of that topic, and it is not older than 15 days. A repeated notification has no effect: an email takes each report once.',
    // SNS declares its JSON as text.
    mediaTypes: ['text/plain'],
    body: Type.Unsafe<Uint8Array>({ type: 'string' }),
    bodyLimit: 524_288,
    response: Type.Null(),
    status: 204,
    failures: ['FORBIDDEN', 'NOT_FOUND', 'SERVICE_UNAVAILABLE'],
    handle: async ({ body, now, requestId }) => {
      const { sesTopicArn, fetchCertificate, confirm, recordFeedback, log } = deps;
      if (sesTopicArn === null) return OFF;
      const acceptsTopic = (topicArn: string): boolean => topicArn === sesTopicArn;
      const sns = await readSnsMessage(Buffer.from(body).toString(), {
        acceptsTopic,
        now,
        // Amazon's servers are unreachable or limit our rate; SNS sends the message again later.
        fetchCertificate: (url) =>
          fetchCertificate(url).catch((cause) => {
            throw new UnavailableError('The certificate of SNS could not be fetched.', 'no', 60, { cause });
          }),
      });
      if (sns instanceof NotGenuine) {
        log.warn({ requestId, reason: sns.reason }, 'A notification was refused.');
        return REFUSED;
      }
      if (sns.type === 'Notification') await recordFeedback(readSesEvent(sns.message), true);
      else if (sns.type === 'SubscriptionConfirmation' && sns.subscribeUrl) await confirm(sns.subscribeUrl);
      return TAKEN;
    },
  }),
];
