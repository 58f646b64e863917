import { type Static, Type } from '@sinclair/typebox';
import { RECEIVED_STOPS } from '../../../machines/received/context.ts';
import { createdQuery, sortQuery } from '../../http/lists/list.ts';
import { pageQuery } from '../../http/lists/pagination.ts';
import { literals } from '../../http/request/schema.ts';

const time = Type.String({ format: 'date-time' });
const text = (description: string) => Type.Union([Type.String(), Type.Null()], { description });

/** The statuses that clients see. */
export const RECEIVED_STATUSES = ['stored', 'posting', 'posted', 'forwarded', 'kept', 'failed'] as const;

const Result = literals(['pass', 'fail', 'softfail', 'neutral', 'none', 'temperror', 'permerror']);

const Authentication = Type.Union(
  [
    Type.Object({ spf: Result, dkim: Result, dmarc: Result }, { title: 'ReceivedAuthentication' }),
    Type.Null(),
  ],
  {
    description:
      'The results of SPF, DKIM and DMARC for the sender, as of RFC 8601; null where they were not checked.',
  },
);

const Spam = Type.Union(
  [
    Type.Object({
      verdict: literals(['spam', 'ham', 'virus', 'unknown']),
      score: Type.Union([Type.Number(), Type.Null()]),
    }),
    Type.Null(),
  ],
  {
    description:
      'The verdict of the spam filter (RSPAMD_URL or SPAMASSASSIN_URL) with its points, or of Amazon SES, which has none. `unknown` where it did not answer, or the message has more than 512,000 octets; null where no filter is configured.',
  },
);

const InReplyToEmail = Type.Union(
  [
    Type.Object({
      emailId: Type.String(),
      contactId: text('The contact whom it was sent to.'),
      campaignId: text('The campaign that it was a part of.'),
      flowRunId: text('The run of a flow that sent it.'),
    }),
    Type.Null(),
  ],
  { description: 'The email of this service that the message answers; null where none is known.' },
);

/** A received message as lists show it. */
export const ReceivedItem = Type.Object(
  {
    id: Type.String({ examples: ['rcv_01m7xj1rwzprnwr10308attx'] }),
    livemode: Type.Boolean(),
    routeId: text(
      'The inbound route that took it; null where none did, since it was sent to the reply address of an email.',
    ),
    status: literals(RECEIVED_STATUSES, {
      description:
        '`stored`: waits to be posted. `posting`: an attempt is under way or scheduled. `posted`: your server has accepted it. `forwarded`: an email carries it to the targets of its route, whose fate `forward` tells. `kept`: its route only stores. `failed`: retries ran out, its route went away, it cannot be forwarded, or none of the targets could take it; `redeliver` tries it again.',
    }),
    envelope: Type.Object(
      {
        from: Type.String({
          description: 'The envelope sender; empty for a report or another answer of a server.',
        }),
        to: Type.String({ description: 'The recipient, as the sender wrote it.' }),
        tag: text('What follows the plus in the recipient.'),
      },
      { description: 'The addresses of SMTP, which those of the header may differ from.' },
    ),
    from: text('The author, as `Name <address>`; null where the message names none that can be read.'),
    to: Type.Array(Type.String()),
    cc: Type.Array(Type.String()),
    replyTo: Type.Array(Type.String()),
    subject: text('The subject.'),
    date: Type.Union([time, Type.Null()], { description: 'The time that the message itself states.' }),
    messageId: text('The Message-ID, with its angle brackets.'),
    inReplyTo: text('The Message-ID of the message that it answers.'),
    authentication: Authentication,
    spam: Spam,
    isAutomatic: Type.Boolean({
      description:
        'True for mail that no person wrote to you: automatic answers (RFC 3834), reports of delivery and reading, mailing lists. Do not answer it.',
    }),
    inReplyToEmail: InReplyToEmail,
    threadId: Type.String({
      description: 'The same for all messages of a thread, by References and In-Reply-To.',
    }),
    size: Type.Integer({ description: 'Octets of the whole message.' }),
    createdAt: time,
  },
  { title: 'ReceivedItem' },
);

const Attachment = Type.Object({
  index: Type.Integer({ description: 'Its number in `GET /v1/received/{id}/attachments/{index}`.' }),
  filename: Type.String(),
  contentType: Type.String({ description: 'As the sender states it.' }),
  size: Type.Integer({ description: 'Octets.' }),
  contentId: text('The Content-ID by which the html shows it.'),
});

const contents = {
  references: Type.Array(Type.String(), {
    description: 'The messages of the thread before it; at most 100.',
  }),
  text: text('The text part; the first 1,048,576 characters.'),
  html: text(
    'The html part, as it was received; the first 1,048,576 characters. Never show it outside a sandbox: a stranger wrote it.',
  ),
  replyText: text(
    'The text without the quotation and the signature, as far as they are certain; of the html where there is no text.',
  ),
  headers: Type.Array(Type.Object({ name: Type.String(), value: Type.String() }), {
    description: 'The header fields in order, unfolded; at most 1,000.',
  }),
  attachments: Type.Array(Attachment, { description: 'At most 1,000.' }),
};

/** A received message as it is posted to the webhook of its route. */
export const ReceivedMessage = Type.Object(
  { ...ReceivedItem.properties, ...contents },
  { title: 'ReceivedMessage' },
);

/** A received message with the attempts to post it. */
export const ReceivedDetail = Type.Object(
  {
    ...ReceivedMessage.properties,
    attempts: Type.Array(
      Type.Object({
        attempt: Type.Integer(),
        attemptedAt: time,
        httpStatus: Type.Integer({ description: 'The status code of the answer; 0 when there was none.' }),
        responseBody: Type.String({
          maxLength: 1_000,
          description: 'The first 1,000 characters of the reply, or the reason why there was none.',
        }),
        durationMs: Type.Integer(),
        error: text('The reason why there was no complete answer, such as `timeout`.'),
      }),
      { description: 'The posts to your server, the latest first; at most 50.' },
    ),
    nextAttemptAt: Type.Union([time, Type.Null()], {
      description: 'The time of the next attempt; null when none is scheduled.',
    }),
    answers: Type.Array(Type.String(), {
      description:
        'The emails that answer it (`POST /v1/received/{id}/reply`), the oldest first; at most 100.',
    }),
    forward: Type.Union(
      [
        Type.Object({
          emailId: Type.String({ description: 'The email that carries it, in `GET /v1/emails/{id}`.' }),
          status: Type.String({ description: 'The status of that email.' }),
          recipients: Type.Array(Type.Object({ address: Type.String(), status: Type.String() }), {
            description: 'The fate of each target of its route, as of a recipient of an email.',
          }),
        }),
        Type.Null(),
      ],
      { description: 'The way of a message that was forwarded; null for every other.' },
    ),
    stopReason: Type.Union([literals(RECEIVED_STOPS), Type.Null()], {
      description: 'The reason why it was given up although retries were left.',
    }),
  },
  { title: 'ReceivedDetail' },
);

/** The filters of the list. */
export const ReceivedQuery = Type.Object({
  ...pageQuery,
  ...createdQuery,
  ...sortQuery(),
  address: Type.Optional(
    Type.String({
      maxLength: 320,
      description:
        'Only messages from, to or about this address: in the envelope, or in a field of the header that names people, such as From, To, Cc, Sender or Reply-To.',
    }),
  ),
  threadId: Type.Optional(Type.String({ maxLength: 60, description: 'Only messages of this thread.' })),
  emailId: Type.Optional(Type.String({ maxLength: 60, description: 'Only answers to this email.' })),
  routeId: Type.Optional(Type.String({ maxLength: 60, description: 'Only messages that this route took.' })),
  isAutomatic: Type.Optional(
    Type.Boolean({ description: '`false`: only messages that a person seems to have written.' }),
  ),
});

/** The body of POST /v1/received/test as JSON. */
export const TestMessage = Type.Object(
  {
    from: Type.String({ minLength: 3, maxLength: 320, description: 'The sender, by address.' }),
    to: Type.String({
      minLength: 3,
      maxLength: 320,
      description: 'The recipient, which a test route takes.',
    }),
    subject: Type.Optional(Type.String({ maxLength: 998 })),
    text: Type.Optional(Type.String({ maxLength: 1_048_576 })),
  },
  { title: 'CreateTestReceived' },
);

/** The envelope of a test message that is sent as octets. */
export const TestQuery = Type.Object({
  from: Type.Optional(
    Type.String({
      maxLength: 320,
      description: 'With a raw message: the envelope sender; by default its From.',
    }),
  ),
  to: Type.Optional(
    Type.String({
      maxLength: 320,
      description: 'With a raw message: the recipient; by default the first address of its To.',
    }),
  ),
});

export type TestQuery = Static<typeof TestQuery>;
export type ReceivedItem = Static<typeof ReceivedItem>;
export type ReceivedMessage = Static<typeof ReceivedMessage>;
export type ReceivedDetail = Static<typeof ReceivedDetail>;
export type ReceivedQuery = Static<typeof ReceivedQuery>;
export type TestMessage = Static<typeof TestMessage>;
