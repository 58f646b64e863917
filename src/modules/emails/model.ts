import { type Static, type TSchema, type TUnsafe, Type } from '@sinclair/typebox';

/** The most recipients that to, cc and bcc name together. */
export const MOST_RECIPIENTS = 50;
/** The longest markdown that is rendered, in characters. */
export const LONGEST_MARKDOWN = 262_144;

/** Members of any name. TypeBox's own Record lets a name with a line break pass unjudged. */
const dictionary = <Value extends TSchema>(
  value: Value,
  options: object = {},
): TUnsafe<Record<string, Static<Value>>> =>
  Type.Unsafe(Type.Object({}, { additionalProperties: value, ...options }));
const nullable = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()]);
const Timestamp = (description: string) =>
  Type.String({ format: 'date-time', description, examples: ['2026-01-31T09:30:00.000Z'] });
const Id = (prefix: string, description: string) =>
  Type.String({ description, examples: [`${prefix}_06fqk3d5vg8x2m7c1pzt4nwy`] });

const AddressText = Type.String({
  description:
    '`user@host` or `Name <user@host>`; a name that holds one of `()<>[]:;@\\,"` goes in double quotes.',
  examples: ['Ada Lovelace <ada@example.com>'],
});

const AddressList = (most: number, description: string) =>
  Type.Union([AddressText, Type.Array(AddressText, { minItems: 1, maxItems: most })], {
    description: `${description} One address, or an array of 1 to ${most}.`,
    examples: ['ada@example.com', ['ada@example.com', 'Charles <charles@example.com>']],
  });

const TagText = Type.String({
  pattern: '^[A-Za-z0-9_-]{1,256}$',
  description: '1 to 256 letters of A to Z, digits, `_` and `-`.',
});

const Tag = Type.Object(
  { name: TagText, value: TagText },
  { additionalProperties: false, examples: [{ name: 'order', value: '1842' }] },
);

const AttachmentInput = Type.Object(
  {
    filename: Type.String({
      description: 'The name the recipient sees: at most 255 octets, without slashes and control characters.',
      examples: ['invoice.pdf'],
    }),
    content: Type.String({
      contentEncoding: 'base64',
      description: 'The file in base64 (RFC 4648 section 4) with padding and without line breaks.',
      examples: ['JVBERi0xLjcK'],
    }),
    contentType: Type.Optional(
      Type.String({
        description: 'The media type; what the file name suggests when left out.',
        examples: ['application/pdf'],
      }),
    ),
    contentId: Type.Optional(
      Type.String({
        description: 'Shows the file inside the html, as `<img src="cid:…">`; without angle brackets.',
        examples: ['logo'],
      }),
    ),
  },
  { additionalProperties: false },
);

/** The body of `POST /v1/emails`; what a schema cannot say is in request.ts. */
export const SendBody = Type.Object(
  {
    from: Type.String({
      description:
        'The sender, one address. A live key needs a verified domain, a test key any well-formed address.',
      examples: ['Acme <hello@acme.example>'],
    }),
    to: AddressList(
      MOST_RECIPIENTS,
      `The recipients. to, cc and bcc name at most ${MOST_RECIPIENTS} together, each one once.`,
    ),
    cc: Type.Optional(AddressList(MOST_RECIPIENTS, 'Recipients of a copy.')),
    bcc: Type.Optional(AddressList(MOST_RECIPIENTS, 'Recipients of a copy whom nobody else sees.')),
    replyTo: Type.Optional(AddressList(10, 'Where answers go.')),
    subject: Type.Optional(
      Type.String({
        maxLength: 998,
        description:
          'At most 998 characters, without line breaks. May be left out only with a template that has one.',
        examples: ['Your order is on its way'],
      }),
    ),
    text: Type.Optional(
      Type.String({
        description: 'The plain text part; made from the html or markdown when left out or blank.',
      }),
    ),
    html: Type.Optional(
      Type.String({
        description: 'The html part. Not together with `markdown`.',
        examples: ['<p>Hello</p>'],
      }),
    ),
    markdown: Type.Optional(
      Type.String({
        maxLength: LONGEST_MARKDOWN,
        description:
          'emailmd markdown, from which html and text are made. Raw html in it is cut down to what is harmless. Not together with `html`.',
        examples: ['# Hello\n\nYour order is on its way.'],
      }),
    ),
    templateId: Type.Optional(Id('tpl', 'The template to send. Not together with text, html or markdown.')),
    variables: Type.Optional(
      dictionary(Type.Unknown(), {
        description: 'Values for the variables of the template.',
        examples: [{ firstName: 'Ada' }],
      }),
    ),
    headers: Type.Optional(
      dictionary(Type.String(), {
        maxProperties: 25,
        description:
          'Further header fields, by name. Fields that the service sets itself are refused: From, To, Cc, Bcc, Subject, Reply-To, Date, Message-ID, Sender, Return-Path, Received, Received-SPF, Authentication-Results, and all that begin with MIME-, Content-, DKIM-, ARC-, Resent-, X-Svc- or X-SES-.',
        examples: [{ 'X-Entity-Ref-ID': '1842' }],
      }),
    ),
    attachments: Type.Optional(
      Type.Array(AttachmentInput, {
        maxItems: 20,
        description: 'Files. The finished message has at most 25 MiB; base64 makes a file a third larger.',
      }),
    ),
    tags: Type.Optional(
      Type.Array(Tag, { maxItems: 10, description: 'What the email can be found and counted by.' }),
    ),
    scheduledAt: Type.Optional(
      Type.String({
        description:
          'When to send: ISO 8601 with an offset or Z, at most 30 days ahead. Up to 60 seconds in the past counts as now.',
        examples: ['2026-01-31T09:30:00Z'],
      }),
    ),
    trackOpens: Type.Optional(
      Type.Boolean({
        description: 'Whether opens are recorded; what the sending domain says when left out.',
      }),
    ),
    trackClicks: Type.Optional(
      Type.Boolean({
        description: 'Whether clicks are recorded; what the sending domain says when left out.',
      }),
    ),
  },
  { additionalProperties: false },
);

/** The type of that body. */
export type SendBody = Static<typeof SendBody>;

/** The body of `PATCH /v1/emails/{id}`. */
export const RescheduleBody = Type.Object(
  {
    scheduledAt: Type.String({
      description:
        'The new time: ISO 8601 with an offset or Z, at most 30 days ahead. Up to 60 seconds in the past counts as now.',
      examples: ['2026-01-31T09:30:00Z'],
    }),
  },
  { additionalProperties: false },
);

/** Where an email is in its life: the states of its machine. */
export const EmailStatus = Type.Union(
  [
    Type.Literal('scheduled'),
    Type.Literal('queued'),
    Type.Literal('sending'),
    Type.Literal('deferred'),
    Type.Literal('sent'),
    Type.Literal('delivered'),
    Type.Literal('failed'),
    Type.Literal('cancelled'),
  ],
  {
    description: 'Where the email is in its life. `deferred`: a temporary failure, another attempt is timed.',
  },
);

/** The closed list of what can happen to an email. */
export const EmailEventType = Type.Union([
  Type.Literal('sent'),
  Type.Literal('delivered'),
  Type.Literal('opened'),
  Type.Literal('clicked'),
  Type.Literal('bounced'),
  Type.Literal('complained'),
  Type.Literal('unsubscribed'),
]);

const LastEvent = nullable(EmailEventType);

const FailureReason = nullable(
  Type.Union(
    [
      Type.Literal('bounced'),
      Type.Literal('suppressed'),
      Type.Literal('expired'),
      Type.Literal('rejected'),
      Type.Literal('domain_removed'),
    ],
    {
      description:
        'Why it failed; `suppressed` recipients were never tried, `expired` means that retries ran out.',
    },
  ),
);

/** Something that happened to an email, the same object in the detail, in `/events` and in a webhook's body. */
export const EmailEvent = Type.Object({
  id: Id('evt', 'Unique to the event and the same in every webhook retry.'),
  type: EmailEventType,
  emailId: Id('em', 'The email it happened to.'),
  recipient: Type.String({ description: 'The address it happened for.', examples: ['ada@example.com'] }),
  occurredAt: Timestamp('When it happened.'),
  data: dictionary(Type.Unknown(), {
    description: 'What is known besides; members depend on `type`.',
    examples: [{ type: 'Permanent', smtpCode: 550 }],
  }),
  livemode: Type.Boolean({ description: 'False for simulated events.' }),
});

/** What sending, rescheduling and cancelling answer. */
export const EmailReceipt = Type.Object({
  id: Id('em', 'The email.'),
  livemode: Type.Boolean({ description: 'False with a test key: nothing is really sent.' }),
  status: EmailStatus,
  scheduledAt: nullable(Timestamp('When it is to be sent; null for at once.')),
  createdAt: Timestamp('When it was accepted.'),
});

const Recipient = Type.Object({
  address: Type.String({ examples: ['ada@example.com'] }),
  kind: Type.Union([Type.Literal('to'), Type.Literal('cc'), Type.Literal('bcc')]),
  status: Type.Union([
    Type.Literal('pending'),
    Type.Literal('sent'),
    Type.Literal('delivered'),
    Type.Literal('failed'),
  ]),
  lastEvent: LastEvent,
});

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
  scheduledAt: nullable(Timestamp('When it is or was to be sent; null for at once.')),
  createdAt: Timestamp('When it was accepted.'),
  sentAt: nullable(Timestamp('When a server first took it.')),
  deliveredAt: nullable(Timestamp('When every recipient had it.')),
};

/** An email in a list: everything but its content, recipients and events. */
export const EmailItem = Type.Object(itemMembers);

/** An email with all that is known of it. */
export const EmailDetail = Type.Object({
  ...itemMembers,
  text: nullable(Type.String()),
  html: nullable(Type.String()),
  markdown: nullable(Type.String()),
  headers: dictionary(Type.String()),
  attachments: Type.Array(
    Type.Object({
      filename: Type.String(),
      contentType: Type.String(),
      size: Type.Integer({ minimum: 0, description: 'Octets.' }),
    }),
  ),
  recipients: Type.Array(Recipient),
  events: Type.Array(EmailEvent, { description: 'Oldest first.' }),
});

/** Why an email is where it is. */
export const Explanation = Type.Object({
  id: Id('em', 'The email.'),
  status: EmailStatus,
  summary: Type.String({ description: 'Where it stands, in a sentence.' }),
  rule: Type.String({ description: 'The rule that put it there.' }),
  evidence: Type.Array(
    Type.Object({ at: Timestamp('When.'), text: Type.String({ description: 'What happened.' }) }),
    { description: 'All that is known, oldest first, with what the servers said.' },
  ),
  next: Type.Object({
    text: Type.String({ description: 'What happens next.' }),
    at: nullable(Timestamp('When; null where nobody knows.')),
  }),
});

/** Why an email is where it is. */
export type Explanation = Static<typeof Explanation>;

/** What `GET /v1/emails` can be narrowed by. */
export const EmailQuery = Type.Object(
  {
    after: Type.Optional(Type.String({ description: 'The `nextCursor` of the page before.' })),
    limit: Type.Integer({ minimum: 1, maximum: 100, default: 50, description: 'Emails a page.' }),
    status: Type.Optional(EmailStatus),
    to: Type.Optional(
      Type.String({ description: 'A recipient (to, cc or bcc), by address.', examples: ['ada@example.com'] }),
    ),
    from: Type.Optional(
      Type.String({ description: 'The sender, by address.', examples: ['hello@acme.example'] }),
    ),
    subject: Type.Optional(
      Type.String({ minLength: 1, maxLength: 998, description: 'A part of the subject, in any case.' }),
    ),
    tag: Type.Optional(
      Type.String({
        pattern: '^[A-Za-z0-9_-]{1,256}:[A-Za-z0-9_-]{1,256}$',
        description: '`name:value` of a tag.',
        examples: ['order:1842'],
      }),
    ),
    domainId: Type.Optional(Id('dom', 'A sending domain.')),
    campaignId: Type.Optional(Id('cmp', 'A campaign.')),
    createdAfter: Type.Optional(Timestamp('Accepted at this time or later.')),
    createdBefore: Type.Optional(Timestamp('Accepted before this time.')),
  },
  { additionalProperties: false },
);

/** The types of what clients send and get. */
export type RescheduleBody = Static<typeof RescheduleBody>;
export type EmailReceipt = Static<typeof EmailReceipt>;
export type EmailEvent = Static<typeof EmailEvent>;
export type EmailItem = Static<typeof EmailItem>;
export type EmailDetail = Static<typeof EmailDetail>;
export type EmailQuery = Static<typeof EmailQuery>;
