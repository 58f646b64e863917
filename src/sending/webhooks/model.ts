import { type Static, Type } from '@sinclair/typebox';
import { EMAIL_EVENT_TYPES } from '../../../machines/email/recipient.ts';
import { STOP_REASONS, WEBHOOK_ENDPOINT_STATES } from '../../../machines/webhook-endpoint/machine.ts';
import { IfUpdatedAt } from '../../http/if-updated-at.ts';
import { sortQuery } from '../../http/lists/list.ts';
import { pageQuery } from '../../http/lists/pagination.ts';
import { literals } from '../../http/request/schema.ts';
import { EmailEventType } from '../emails/queries.ts';
import { URL_MAX_LENGTH } from './endpoints/target.ts';
import { REPLY_MAX_LENGTH } from './http/response-head.ts';

const Timestamp = (description: string) => Type.String({ format: 'date-time', description });
const Nullable = <S extends ReturnType<typeof Type.String>>(schema: S) => Type.Union([schema, Type.Null()]);

/** The states that clients see; a deleted endpoint is never shown. */
const STATUSES = WEBHOOK_ENDPOINT_STATES.filter((state) => state !== 'deleted');
const Status = literals(STATUSES);

const Url = Type.String({
  minLength: 1,
  maxLength: URL_MAX_LENGTH,
  description:
    'The URL that receives events: http or https, a public address, no credentials and no fragment.',
  examples: ['https://example.com/hooks/mail'],
});

const Events = Type.Array(EmailEventType, {
  minItems: 1,
  maxItems: EMAIL_EVENT_TYPES.length,
  uniqueItems: true,
  description: 'The types of event that the endpoint receives.',
});

/** The body of POST /v1/webhooks. */
export const CreateWebhook = Type.Object({ url: Url, events: Events }, { title: 'CreateWebhook' });

/** The body of PATCH /v1/webhooks/{id}. */
export const PatchWebhook = Type.Object(
  {
    url: Type.Optional(Url),
    events: Type.Optional(Events),
    status: Type.Optional(
      literals(STATUSES, {
        description:
          '`disabled` stops all waiting deliveries; `active` enables the endpoint and resets its failures.',
      }),
    ),
    ifUpdatedAt: IfUpdatedAt,
  },
  { title: 'UpdateWebhook', minProperties: 1 },
);

const members = {
  id: Type.String(),
  url: Type.String(),
  events: Type.Array(EmailEventType),
  status: Status,
  secretPrefix: Type.String({ description: 'The first characters of the secret, to tell secrets apart.' }),
  failureCount: Type.Integer({
    description:
      'Failed attempts in a row, over all deliveries: ten disable the endpoint, a success resets the count. An attempt that was ordered before the last counted failure ended does not count: posts that meet one stall of the receiver together are one failure.',
  }),
  lastFailures: Type.Array(
    Type.Object({
      at: Timestamp('The end of the attempt.'),
      httpStatus: Type.Integer({ description: 'The status code of the answer; 0 when there was none.' }),
      error: Nullable(
        Type.String({
          description: 'The reason why there was no complete answer, such as `timeout`; null otherwise.',
        }),
      ),
    }),
    { description: 'The attempts that `failureCount` counts, the latest last.' },
  ),
  disabledAt: Nullable(Timestamp('The time at which it was disabled; null while it is active.')),
  disabledReason: Type.Union([Type.Literal('failures'), Type.Literal('request'), Type.Null()], {
    description:
      '`failures`: ten attempts in a row failed, listed in `lastFailures`. `request`: a client disabled it.',
  }),
  createdAt: Timestamp('The time at which it was created.'),
  updatedAt: Timestamp('The last change by a request; results of deliveries do not count.'),
};

export const Webhook = Type.Object(members, { title: 'Webhook' });

/** An endpoint with its secret, as creation and rotation answer it. */
export const WebhookWithSecret = Type.Object(
  {
    ...members,
    secret: Type.String({ description: 'Signs the deliveries. Only this reply shows it.' }),
  },
  { title: 'WebhookWithSecret' },
);

/** The answer of POST /v1/webhooks/{id}/test. */
export const TestQueued = Type.Object({ queued: Type.Literal(true) }, { title: 'WebhookTestQueued' });

const DeliveryStatus = Type.Union(
  [Type.Literal('success'), Type.Literal('failed'), Type.Literal('scheduled')],
  { description: '`scheduled`: an attempt is under way or due later.' },
);

/** One event for one endpoint, with the result of its last attempt. */
export const Delivery = Type.Object(
  {
    id: Type.String(),
    webhookId: Type.String(),
    eventId: Type.String({ description: 'The same on every attempt, redelivery and replay.' }),
    eventType: EmailEventType,
    emailId: Type.String(),
    status: DeliveryStatus,
    httpStatus: Type.Integer({ description: 'The status code of the answer; 0 when there was none.' }),
    responseBody: Type.String({
      maxLength: REPLY_MAX_LENGTH,
      description: 'The first 1,000 characters of the reply, or the reason why there was none.',
    }),
    retryCount: Type.Integer(),
    attemptedAt: Nullable(Timestamp('The beginning of the last attempt; null before the first.')),
    durationMs: Type.Union([Type.Integer(), Type.Null()]),
    error: Nullable(
      Type.String({
        description:
          'The reason why the last attempt got no complete answer, such as `timeout`; `stopReason` where it got one, or where no attempt was made.',
      }),
    ),
    stopReason: Type.Union([...STOP_REASONS.map((reason) => Type.Literal(reason)), Type.Null()], {
      description:
        'The reason why no further attempt follows although retries were left; null otherwise. With `attemptedAt` null the event was skipped: it was never posted.',
    }),
    nextAttemptAt: Nullable(Timestamp('The time of the next attempt; null when none is scheduled.')),
  },
  { title: 'WebhookDelivery' },
);

export const DeliveryQuery = Type.Object({
  ...pageQuery,
  ...sortQuery(),
  status: Type.Optional(DeliveryStatus),
  attempted: Type.Optional(
    Type.Boolean({
      description:
        '`true`: only events that were posted at least once; `false`: only events that never were. `status=failed&attempted=false` lists the skipped ones.',
    }),
  ),
});

/** The body of POST /v1/webhooks/{id}/replay. */
export const ReplayBody = Type.Object(
  {
    from: Timestamp('The earliest `occurredAt` of the events to send again.'),
    to: Timestamp('The latest `occurredAt`.'),
    types: Type.Optional(
      Type.Array(EmailEventType, {
        minItems: 1,
        maxItems: EMAIL_EVENT_TYPES.length,
        uniqueItems: true,
        description: 'Only these types; by default the types that the endpoint subscribes to.',
      }),
    ),
    onlyFailed: Type.Optional(
      Type.Boolean({
        description:
          'Only events that the endpoint has not accepted: failed deliveries, and events without one.',
      }),
    ),
  },
  { title: 'ReplayWebhook' },
);

/** The answer of a replay. */
export const ReplayQueued = Type.Object(
  {
    queued: Type.Integer({ description: 'The number of events that are sent again.' }),
    continueFrom: Nullable(
      Timestamp('One call takes 10,000 events. Where the range has more, call again with this as `from`.'),
    ),
  },
  { title: 'WebhookReplayQueued' },
);

export type WebhookView = Static<typeof Webhook>;
export type NewWebhook = Static<typeof CreateWebhook>;
export type WebhookPatch = Static<typeof PatchWebhook>;
export type DeliveryView = Static<typeof Delivery>;
export type DeliveryQuery = Static<typeof DeliveryQuery>;
export type ReplayBody = Static<typeof ReplayBody>;
