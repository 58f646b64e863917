import { type Static, Type } from '@sinclair/typebox';
import { EMAIL_STATES } from '../../../../machines/email/machine.ts';
import { EMAIL_EVENT_TYPES, FAILURE_REASONS } from '../../../../machines/email/recipient.ts';
import { literals } from '../../../http/request/schema.ts';
import { AddressText, dictionary, Id, nullable, Tag, Timestamp } from '../schema-fields.ts';
import { EmailEvent } from './event-model.ts';

/** The status of an email: the states of its machine. */
export const EmailStatus = literals(EMAIL_STATES, {
  title: 'EmailStatus',
  description: 'The state of the email. `deferred`: a temporary failure; another attempt is scheduled.',
});

/** The closed list of email events. */
export const EmailEventType = literals(EMAIL_EVENT_TYPES, { title: 'EmailEventType' });

const LastEvent = nullable(EmailEventType);

const FailureReason = nullable(
  literals(FAILURE_REASONS, {
    description:
      'The reason of the failure. `suppressed`: the recipients get no more mail; `expired`: retries ran out. `GET /v1/emails/{id}/explain` names the act that decided, and the recipients who may have got it all the same.',
  }),
);

/** The answer to sending, rescheduling and cancelling. */
export const EmailReceipt = Type.Object(
  {
    id: Id('em', 'The email.'),
    livemode: Type.Boolean({ description: 'False with a test key: nothing is really sent.' }),
    status: EmailStatus,
    scheduledAt: nullable(Timestamp('The scheduled time; null for at once.')),
    createdAt: Timestamp('When it was accepted.'),
  },
  { title: 'EmailReceipt' },
);

const Recipient = Type.Object(
  {
    address: Type.String({ examples: ['ada@example.com'] }),
    kind: Type.Union([Type.Literal('to'), Type.Literal('cc'), Type.Literal('bcc')]),
    status: Type.Union([
      Type.Literal('pending'),
      Type.Literal('sent'),
      Type.Literal('delivered'),
      Type.Literal('failed'),
    ]),
    lastEvent: LastEvent,
  },
  { title: 'EmailRecipient' },
);

const itemMembers = {
  id: Id('em', 'The email.'),
  livemode: Type.Boolean(),
  from: AddressText,
  to: Type.Array(AddressText),
  cc: Type.Array(AddressText),
  bcc: Type.Array(AddressText),
  replyTo: Type.Array(AddressText),
  subject: Type.String(),
  tags: Type.Array(Tag),
  status: EmailStatus,
  lastEvent: LastEvent,
  failureReason: FailureReason,
  messageId: nullable(Type.String({ description: 'The Message-ID header of the message.' })),
  domainId: nullable(Id('dom', 'The sending domain; null in test mode.')),
  templateId: nullable(Id('tpl', 'The template it was made from.')),
  campaignId: nullable(Id('cmp', 'The campaign it belongs to.')),
  language: nullable(
    Type.String({
      description:
        'The language that was chosen (BCP 47): of the request, of the contact, or the own one of the template. Null where none is known.',
      examples: ['de'],
    }),
  ),
  scheduledAt: nullable(Timestamp('The scheduled time; null for at once.')),
  createdAt: Timestamp('When it was accepted.'),
  sentAt: nullable(Timestamp('When a server first took it.')),
  deliveredAt: nullable(Timestamp('When every recipient had it.')),
};

/** An email in a list: everything but its content, recipients and events. */
export const EmailItem = Type.Object(itemMembers, { title: 'EmailItem' });

/** An email with its content, recipients and events. */
export const EmailDetail = Type.Object(
  {
    ...itemMembers,
    text: nullable(Type.String()),
    html: nullable(Type.String()),
    markdown: nullable(Type.String()),
    templateVersion: nullable(Type.Integer({ description: 'The version of the template it was made from.' })),
    variables: nullable(
      dictionary(Type.Unknown(), {
        description: 'The variables of the request that was made with a template.',
      }),
    ),
    testClockId: nullable(
      Id(
        'clk',
        'The test clock that it waits by. All of its times but `createdAt` are then times of that clock.',
      ),
    ),
    headers: dictionary(Type.String()),
    attachments: Type.Array(
      Type.Object({
        filename: Type.String(),
        contentType: Type.String(),
        size: Type.Integer({ minimum: 0, description: 'Octets.' }),
      }),
    ),
    calendar: nullable(
      Type.Object({
        method: Type.String({ examples: ['REQUEST'] }),
        content: Type.String({ description: 'iCalendar text.' }),
      }),
    ),
    recipients: Type.Array(Recipient),
    events: Type.Array(EmailEvent, { description: 'Oldest first.' }),
  },
  { title: 'Email' },
);

/** The reason for an email's state, with the evidence. */
export const Explanation = Type.Object(
  {
    id: Id('em', 'The email.'),
    status: EmailStatus,
    summary: Type.String({ description: 'The state of the email, in a sentence.' }),
    rule: Type.String({ description: 'The rule that put it there.' }),
    evidence: Type.Array(
      Type.Object({
        at: Timestamp('The time of the step.'),
        text: Type.String({ description: 'The step, in a sentence.' }),
      }),
      { description: 'All that is known, oldest first, with what the servers said.' },
    ),
    next: Type.Object({
      text: Type.String({ description: 'The next step, in a sentence.' }),
      at: nullable(Timestamp('The time of the next step; null when it is unknown.')),
    }),
  },
  { title: 'EmailExplanation' },
);

export type Explanation = Static<typeof Explanation>;

/** The types of the other answers. */
export type EmailReceipt = Static<typeof EmailReceipt>;
export type EmailItem = Static<typeof EmailItem>;
export type EmailDetail = Static<typeof EmailDetail>;
