import type { Finding } from '../transport.ts';
import type { SesAnswer, SesApi } from './ses-api.ts';

/** The settings for SES's reports. */
export interface ReportingSettings {
  /** The configuration set of every message; null for none. */
  readonly configurationSet: string | null;
  /** The SNS topic whose notifications are accepted; null for none. */
  readonly topicArn: string | null;
}

interface EventDestination {
  readonly Name?: string;
  readonly Enabled?: boolean;
  readonly MatchingEventTypes?: readonly string[];
  readonly SnsDestination?: { readonly TopicArn?: string };
}

/** The event types that SES has to report. */
const WANTED = ['BOUNCE', 'COMPLAINT', 'DELIVERY'];

const CHECK = 'SES configuration set';

const found = (ok: boolean, detail: string, advice: string | null): Finding => ({
  check: CHECK,
  ok,
  detail,
  advice,
});

/** Checks that SES reports to the topic. @throws SesUnreachable */
export async function examineReporting(
  api: SesApi,
  { configurationSet: name, topicArn }: ReportingSettings,
  signal: AbortSignal,
): Promise<Finding> {
  // A domain may have its own configuration set at SES, which is not visible here, so that this is no
  // failure.
  if (name === null)
    return found(
      true,
      'None is named.',
      'Bounces and complaints only come back where one publishes them to SNS: set SES_CONFIGURATION_SET and SES_TOPIC_ARN.',
    );
  const path = `/v2/email/configuration-sets/${encodeURIComponent(name)}/event-destinations`;
  const answer = await api({ method: 'GET', path, signal });
  if (answer.errorType !== null) return refused(name, answer);
  const all = (answer.body.EventDestinations ?? []) as readonly EventDestination[];
  const topics = all.filter(({ Enabled, SnsDestination }) => Enabled === true && SnsDestination?.TopicArn);
  if (topics.length === 0)
    return found(
      false,
      `${name} has no enabled event destination of SNS.`,
      'Add one in the SES console, for bounces, complaints and deliveries, whose topic posts to /callbacks/ses.',
    );
  if (topicArn === null)
    return found(
      false,
      `${name} publishes to SNS, but no topic is listened to.`,
      'Set SES_TOPIC_ARN to the topic of its event destination.',
    );
  const ours = topics.filter(({ SnsDestination }) => SnsDestination?.TopicArn === topicArn);
  if (ours.length === 0)
    return found(
      false,
      `${name} publishes to another topic than SES_TOPIC_ARN.`,
      'Let both name the same one: notifications of any other are refused.',
    );
  const published = new Set(ours.flatMap(({ MatchingEventTypes }) => MatchingEventTypes ?? []));
  const missing = WANTED.filter((type) => !published.has(type)).map((type) => type.toLowerCase());
  return missing.length === 0
    ? found(true, `${name} publishes what happens to SES_TOPIC_ARN.`, null)
    : found(
        false,
        `${name} does not publish: ${missing.join(', ')}.`,
        'Add these to its event destination in the SES console.',
      );
}

function refused(name: string, { errorType, errorMessage }: SesAnswer): Finding {
  if (errorType === 'NotFoundException')
    return found(
      false,
      `SES knows no ${name} in this region, and takes no message that names it.`,
      'Make it in the SES console, or correct SES_CONFIGURATION_SET.',
    );
  if (errorType === 'AccessDeniedException')
    return found(
      true,
      `Whether ${name} has an event destination cannot be seen.`,
      'Allow ses:GetConfigurationSetEventDestinations to these credentials to have it looked at.',
    );
  return found(false, `${errorType}: ${errorMessage}`, 'Ask again; SES did not answer the question.');
}
