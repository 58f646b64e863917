import { Type } from '@sinclair/typebox';
import type { RequestLog } from '../../http/log.ts';
import { RawResponse, type Route, route } from '../../http/request/route.ts';
import type { Feedback } from '../../mail/inbound/feedback.ts';
import { readSesEvent } from '../../mail/transport/ses/ses-events.ts';
import {
  NotGenuine,
  readSnsMessage,
  type SnsCheck,
  type SnsMessage,
} from '../../mail/transport/ses/sns-message.ts';
import type { InboundTopic } from '../../platform/config/settings/ses-inbound-settings.ts';
import { Failure } from '../../platform/errors/failure.ts';
import { UnavailableError } from '../../platform/errors/unavailable.ts';
import type { InboundApi } from '../inbound/api.ts';

export interface SesCallbackDeps extends InboundApi {
  /** The only SNS topic whose notifications are accepted; null when none are. */
  readonly sesTopicArn: string | null;
  /** The topics of mail that SES has received. */
  readonly inboundTopics: readonly InboundTopic[];
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
const INBOUND_OFF = new Failure(
  'NOT_FOUND',
  'Mail that Amazon SES has received is not accepted: SES_INBOUND_TOPICS is not set.',
);
const INBOUND_REFUSED = new Failure(
  'FORBIDDEN',
  'This is not a notification of a topic in SES_INBOUND_TOPICS, or it names an object that is not in SES_INBOUND_BUCKET.',
);
const TAKEN = new RawResponse(null, null, { status: 204 });

/** SNS sends from few addresses, at the rate of the mail, so it needs a high limit. */
const PER_MINUTE = 60_000;

/** The parts that both endpoints share. SNS declares its JSON as text. */
const OF_SNS = {
  permission: 'public',
  ipLimitPerMinute: PER_MINUTE,
  mediaTypes: ['text/plain'],
  body: Type.Unsafe<Uint8Array>({ type: 'string' }),
  bodyLimit: 524_288,
  response: Type.Null(),
  status: 204,
  failures: ['FORBIDDEN', 'NOT_FOUND', 'SERVICE_UNAVAILABLE'],
} as const;

/**
 * The message of a call whose signature holds, after a subscription was confirmed; null for what is no call
 * of such a topic.
 */
async function readCall(
  { fetchCertificate, confirm, log }: SesCallbackDeps,
  { body, now, requestId }: { readonly body: Uint8Array; readonly now: number; readonly requestId: string },
  acceptsTopic: SnsCheck['acceptsTopic'],
): Promise<SnsMessage | null> {
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
    return null;
  }
  if (sns.type === 'SubscriptionConfirmation' && sns.subscribeUrl) await confirm(sns.subscribeUrl);
  return sns;
}

/** The endpoints for the notifications of Amazon SES. */
export const sesRoutes = (deps: SesCallbackDeps): readonly Route[] => [
  route('POST /callbacks/ses', {
    ...OF_SNS,
    summary: 'Receive a notification of Amazon SES through SNS',
    description:
      'Accepted when SES_TOPIC_ARN names its topic, SNS has signed it in the region of that topic, and it is not older than 15 days. A repeated notification has no effect: an email takes each report once.',
    handle: async (call) => {
      const { sesTopicArn, recordFeedback } = deps;
      if (sesTopicArn === null) return OFF;
      const sns = await readCall(deps, call, (topicArn) => topicArn === sesTopicArn);
      if (sns === null) return REFUSED;
      if (sns.type === 'Notification') await recordFeedback(readSesEvent(sns.message), true);
      return TAKEN;
    },
  }),
  route('POST /callbacks/ses/inbound', {
    ...OF_SNS,
    summary: 'Receive mail that Amazon SES has received, through SNS',
    description:
      'Accepted when SES_INBOUND_TOPICS names its topic, SNS has signed it in the region of that topic, and it is not older than 15 days. The message in it, or in the bucket that it names, goes through the inbound routes. A message that is repeated within a day is stored once.',
    handle: async (call) => {
      const { inboundTopics, takeSes, log } = deps;
      if (inboundTopics.length === 0) return INBOUND_OFF;
      const topicOf = (topicArn: string) => inboundTopics.find(({ arn }) => arn === topicArn);
      const sns = await readCall(deps, call, (topicArn) => topicOf(topicArn) !== undefined);
      const topic = sns && topicOf(sns.topicArn);
      if (!topic) return INBOUND_REFUSED;
      if (sns.type !== 'Notification') return TAKEN;
      const end = await takeSes(sns.message, topic);
      if (end !== 'taken') log.warn({ requestId: call.requestId, end }, 'A message of SES was not stored.');
      return end === 'refused' ? INBOUND_REFUSED : TAKEN;
    },
  }),
];
