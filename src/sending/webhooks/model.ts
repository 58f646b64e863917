import { type Static, Type } from '@sinclair/typebox';
import { EMAIL_EVENT_TYPES } from '../../../machines/email/recipient.ts';
import { STOP_REASONS, WEBHOOK_ENDPOINT_STATES } from '../../../machines/webhook-endpoint/machine.ts';
import { IfUpdatedAt } from '../../http/if-updated-at.ts';
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
  description: 'Where events are sent: http or https, a public address, no credentials and no fragment.',
  examples: ['https://example.com/hooks/mail'],
});

const Events = Type.Array(EmailEventType, {
  minItems: 1,
  maxItems: EMAIL_EVENT_TYPES.length,
  uniqueItems: true,
  description: 'The types of event that are sent to it.',
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
        description: '`disabled` stops everything that waits for it; `active` starts afresh.',
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
  secretPrefix: Type.String({ description: 'The beginning of the secret, to tell secrets apart.' }),
  failureCount: Type.Integer({
    description:
      'Failed attempts that followed each other, over all deliveries: ten disable the endpoint, a success resets. One that was ordered before the failure counted last had ended is not counted: posts that meet one stall of the receiver together are one failure.',
  }),
  lastFailures: Type.Array(
    Type.Object({
      at: Timestamp('When the attempt ended.'),
      httpStatus: Type.Integer({ description: 'What the endpoint answered; 0 when there was no answer.' }),
      error: Nullable(
        Type.String({ description: 'Why there was no whole answer, such as `timeout`; null otherwise.' }),
      ),
    }),
    { description: 'The attempts that `failureCount` counts, the latest last.' },
  ),
  disabledAt: Nullable(Timestamp('When it was disabled; null while it is active.')),
  disabledReason: Type.Union([Type.Literal('failures'), Type.Literal('request'), Type.Null()], {
    description:
      '`failures`: ten failed attempts followed each other, which `lastFailures` has. `request`: a client disabled it.',
  }),
  createdAt: Timestamp('When it was registered.'),
  updatedAt: Timestamp('When a request changed it last; what its deliveries came to does not count.'),
};

/** The schema of a webhook endpoint. */
export const Webhook = Type.Object(members, { title: 'Webhook' });

/** An endpoint with its secret, as creation and rotation answer it. */
export const WebhookWithSecret = Type.Object(
  {
    ...members,
    secret: Type.String({ description: 'Signs the deliveries. It is shown this once.' }),
  },
  { title: 'WebhookWithSecret' },
);

/** The answer of POST /v1/webhooks/{id}/test. */
export const TestQueued = Type.Object({ queued: Type.Literal(true) }, { title: 'WebhookTestQueued' });

const DeliveryStatus = Type.Union(
  [Type.Literal('success'), Type.Literal('failed'), Type.Literal('scheduled')],
  { description: '`scheduled`: an attempt is under way or to come.' },
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
    httpStatus: Type.Integer({ description: 'What the endpoint answered; 0 when there was no answer.' }),
    responseBody: Type.String({
      maxLength: REPLY_MAX_LENGTH,
      description: 'The first 1000 characters of the reply, or why there was none.',
    }),
    retryCount: Type.Integer(),
    attemptedAt: Nullable(Timestamp('When the last attempt began; null before the first.')),
    durationMs: Type.Union([Type.Integer(), Type.Null()]),
    error: Nullable(
      Type.String({
        description:
          'Why the last attempt got no whole answer, such as `timeout`. Where it got one, or none was made: `stopReason`.',
      }),
    ),
    stopReason: Type.Union([...STOP_REASONS.map((reason) => Type.Literal(reason)), Type.Null()], {
      description:
        'Why no further attempt is made although retries were left; null otherwise. With `attemptedAt` null the event was skipped: it was never posted.',
    }),
    nextAttemptAt: Nullable(Timestamp('When the next attempt is due; null when none is timed.')),
  },
  { title: 'WebhookDelivery' },
);

/** The query of the list of deliveries. */
export const DeliveryQuery = Type.Object({
  ...pageQuery,
  status: Type.Optional(DeliveryStatus),
  attempted: Type.Optional(
    Type.Boolean({
      description:
        '`true`: only events that were posted at least once; `false`: only those that never were. `status=failed&attempted=false` lists what was skipped.',
    }),
  ),
});

/** The body of POST /v1/webhooks/{id}/replay. */
export const ReplayBody = Type.Object(
  {
    from: Timestamp('The earliest `occurredAt` of the events to send again.'),
    to: Timestamp('The latest one.'),
    types: Type.Optional(
      Type.Array(EmailEventType, {
        minItems: 1,
        maxItems: EMAIL_EVENT_TYPES.length,
        uniqueItems: true,
        description: 'Only these types; those that the endpoint subscribes to when left out.',
      }),
    ),
    onlyFailed: Type.Optional(
      Type.Boolean({
        description:
          'Only what the endpoint has not taken: deliveries that failed, and events that had none.',
      }),
    ),
  },
  { title: 'ReplayWebhook' },
);

/** The answer of a replay. */
export const ReplayQueued = Type.Object(
  {
    queued: Type.Integer({ description: 'How many events are being sent again.' }),
    continueFrom: Nullable(
      Timestamp('One call takes 10,000 events; where the range has more, call again with this as `from`.'),
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
