import { Type } from '@sinclair/typebox';
import { optional, type Setting } from './setting.ts';
import * as is from './setting-kinds.ts';

/**
 * A topic whose messages are taken, and the only workspace that they are for; null where they are for all.
 */
export interface InboundTopic {
  readonly arn: string;
  readonly workspaceId: string | null;
}

const TOPIC = /^(arn:aws[a-z-]*:sns:[a-z0-9-]+:\d{12}:[\w-]{1,256})(?:=(ws_[0-9a-z]{24}))?$/;
const MOST_TOPICS = 100;

function readTopics(written: string): readonly InboundTopic[] | null {
  const topics = written.split(',').map((item): InboundTopic | null => {
    const [, arn, workspaceId = null] = TOPIC.exec(item.trim()) ?? [];
    return arn === undefined ? null : { arn, workspaceId };
  });
  const known = topics.filter((topic) => topic !== null);
  const isEachOnce = new Set(known.map(({ arn }) => arn)).size === topics.length;
  return isEachOnce && topics.length <= MOST_TOPICS ? known : null;
}

/** The settings of mail that Amazon SES receives. */
export const SES_INBOUND_SETTINGS = {
  SES_INBOUND_TOPICS: optional(
    is.kind(
      `the ARNs of at most ${MOST_TOPICS} SNS topics, separated by commas, each once, and each with = and the id of a workspace if you like`,
      Type.Unsafe<readonly InboundTopic[]>(Type.Array(Type.Object({}))),
      readTopics,
    ),
    'none',
    'The SNS topics of receipt rules whose messages are taken at /callbacks/ses/inbound; arn:…=ws_… are for the routes of that workspace alone',
  ),
  SES_INBOUND_BUCKET: optional(
    is.bucket,
    'none',
    'The only bucket, and prefix, from which messages are fetched that such a rule has stored; those of a topic with a workspace lie under its id there',
  ),
  SES_INBOUND_ENDPOINT: optional(
    is.url('an http or https URL', 'http:', 'https:'),
    'that of S3 in the region of the topic',
    'A custom endpoint for SES_INBOUND_BUCKET',
  ),
} as const satisfies Record<string, Setting>;
