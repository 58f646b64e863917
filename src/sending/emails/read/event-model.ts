import { type Static, type TObject, Type } from '@sinclair/typebox';
import type { EmailEventType } from '../../../../machines/email/recipient.ts';
import { Id, nullable, Timestamp } from '../schema-fields.ts';

/** The program behind a tracked request; null for a person. */
const Via = nullable(
  Type.Union([Type.Literal('imageProxy'), Type.Literal('prefetch'), Type.Literal('scanner')], {
    description:
      'The program that asked: a mail service that fetches images, one that loads links ahead, a scanner of links; null for a person, as far as it can be known. A visit in the first minute of a message with several links is reported some seconds later, once it is known whether a scanner made it.',
  }),
);
const UserAgent = nullable(Type.String({ description: 'The name that the client gives itself.' }));
const RemoteMta = nullable(Type.String({ description: 'The server that said so.' }));

const sent = Type.Object({
  provider: Type.String({
    description: 'The transport: `smtp`, `direct`, `ses`, `capture` or `simulator`.',
  }),
  messageId: Type.String({ description: 'The id that the provider gave it, else its Message-ID header.' }),
  response: Type.String({ description: 'The reply of the server.' }),
  relay: Type.Optional(
    Type.String({
      description: 'The relay that took it, `host:port`, where SMTP_FALLBACK_URL names a second one.',
    }),
  ),
  isUnreported: Type.Optional(
    Type.Literal(true, {
      description:
        'Only where an SMTP client asked for a report of success, and the server that took the message was not asked for one: it knows no DSN (RFC 3461).',
    }),
  ),
  passedOver: Type.Optional(
    Type.Array(Type.String(), {
      description:
        'The relays and transports that the attempt passed over because they were down, each with the reason.',
    }),
  ),
});

const delivered = Type.Object({
  remoteMta: RemoteMta,
  response: sent.properties.response,
  isTest: Type.Optional(
    Type.Literal(true, {
      description: 'Only in what `POST /v1/webhooks/{id}/test` sends: there is no such email.',
    }),
  ),
});

const opened = Type.Object({ userAgent: UserAgent, via: Via });

const clicked = Type.Object({
  url: Type.String({ description: 'The target of the link.' }),
  userAgent: UserAgent,
  via: Via,
});

const bounced = Type.Object({
  type: Type.Union([Type.Literal('Permanent'), Type.Literal('Transient')], {
    description:
      '`Permanent`: this email will not arrive, and its recipient has `failed`; the address gets no more live mail only where the bounce proves it dead (no such mailbox, a disabled one, no such domain), since a full mailbox empties and a refusal of the sender or of the content says nothing about it. `Transient`: temporary failures lasted too long. With the `subType` `expired` the server has given up, and the recipient has `failed`; any other leaves it `sent`.',
  }),
  subType: Type.String({
    description:
      'Such as `NoEmail`, `MailboxFull`, `ContentRejected`; `expired` where retries ran out, here or at a later server.',
  }),
  smtpCode: nullable(Type.Integer({ description: 'RFC 5321 4.2, as the server answered it.' })),
  enhancedCode: nullable(Type.String({ description: 'RFC 3463, as the server answered it.' })),
  message: Type.String({ description: 'The reply of the server, or the reason why nothing was tried.' }),
  remoteMta: RemoteMta,
  inDoubt: Type.Optional(
    Type.Literal(true, {
      description:
        'Only where the message may have arrived all the same: no reply came to an earlier attempt, and none ever told.',
    }),
  ),
});

const complained = Type.Object({
  feedbackType: Type.String({ description: 'RFC 5965 7.3: `abuse`, `fraud`, `virus`, `other`, …' }),
  userAgent: UserAgent,
});

const unsubscribed = Type.Object({
  source: Type.Union([Type.Literal('oneClick'), Type.Literal('page'), Type.Literal('api')], {
    description:
      'The button of the mail program, which asks by HTTP (RFC 8058) or by mail, the page behind the link or the preference page of a campaign, or the API.',
  }),
  campaignId: nullable(Id('cmp', 'The campaign that was left.')),
  audienceId: nullable(Id('aud', 'The audience that was left.')),
});

const eventOfType = <Name extends string, Data extends TObject>(
  type: Name,
  data: Data,
  description: string,
) =>
  Type.Object(
    {
      id: Id('evt', 'Unique to the event and the same in every webhook retry.'),
      type: Type.Literal(type),
      emailId: Id('em', 'The email it happened to.'),
      recipient: Type.String({
        description: 'The address it happened for.',
        examples: ['ada@example.com'],
      }),
      occurredAt: Timestamp('When it happened.'),
      data,
      livemode: Type.Boolean({ description: 'False for simulated events.' }),
    },
    { title: `${type.charAt(0).toUpperCase()}${type.slice(1)}Event`, description },
  );

/** Every event of an email; the list is closed. */
export const EMAIL_EVENTS = {
  sent: eventOfType('sent', sent, 'A server took the message for the recipient.'),
  delivered: eventOfType('delivered', delivered, "The recipient's own server has it."),
  opened: eventOfType('opened', opened, 'The picture in it was loaded.'),
  clicked: eventOfType('clicked', clicked, 'A link in it was followed.'),
  bounced: eventOfType('bounced', bounced, 'It was refused, or came back.'),
  complained: eventOfType('complained', complained, 'The recipient called it spam.'),
  unsubscribed: eventOfType('unsubscribed', unsubscribed, 'The recipient wants no more of these.'),
} as const satisfies Readonly<Record<EmailEventType, TObject>>;

/** The end of "An email was …" for each event. */
export const EVENT_PHRASES: Readonly<Record<EmailEventType, string>> = {
  sent: 'sent',
  delivered: 'delivered',
  opened: 'opened',
  clicked: 'clicked in',
  bounced: 'bounced',
  complained: 'complained about',
  unsubscribed: 'unsubscribed from',
};

/** An event of an email, the same object in the detail, in `/events` and in a webhook's body. */
export const EmailEvent = Type.Unsafe<EmailEvent>(
  Type.Union(Object.values(EMAIL_EVENTS), {
    title: 'EmailEvent',
    description: 'Something that happened to an email; `type` says what, and which members `data` has.',
  }),
);

export type EmailEvent = Static<(typeof EMAIL_EVENTS)[EmailEventType]>;
