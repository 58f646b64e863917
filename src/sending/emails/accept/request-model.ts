import { type Static, Type } from '@sinclair/typebox';
import { literals } from '../../../http/request/schema.ts';
import { CALENDAR_METHODS, LONGEST_CALENDAR } from '../../../mail/message/calendar.ts';
import { LONGEST_MESSAGE_ID } from '../../../mail/message/message-id.ts';
import { LONGEST_TAG } from '../../../platform/text/language.ts';
import { AddressText, dictionary, Id, Tag } from '../schema-fields.ts';
import { LONGEST_SCRIPT, MOST_OUTCOMES } from '../simulator/read-script.ts';

/** The most recipients that to, cc and bcc name together. */
export const MOST_RECIPIENTS = 50;
/** The longest markdown that is rendered, in characters. */
export const LONGEST_MARKDOWN = 262_144;

const AddressList = (most: number, description: string) =>
  Type.Union([AddressText, Type.Array(AddressText, { minItems: 1, maxItems: most })], {
    description: `${description} One address, or an array of 1 to ${most}.`,
    examples: ['ada@example.com', ['ada@example.com', 'Charles <charles@example.com>']],
  });

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
  { title: 'EmailAttachment', additionalProperties: false },
);

const CALENDAR_EXAMPLE = [
  'BEGIN:VCALENDAR',
  'VERSION:2.0',
  'PRODID:-//Acme//Meetings//EN',
  'METHOD:REQUEST',
  'BEGIN:VEVENT',
  'UID:4711@acme.example',
  'DTSTAMP:20260131T090000Z',
  'DTSTART:20260202T130000Z',
  'DTEND:20260202T140000Z',
  'SUMMARY:Kick-off',
  'ORGANIZER:mailto:hello@acme.example',
  'ATTENDEE;RSVP=TRUE:mailto:ada@example.com',
  'END:VEVENT',
  'END:VCALENDAR',
  '',
].join('\r\n');

/** The body of `POST /v1/emails`. request.ts checks whatever a schema cannot say. */
export const SendBody = Type.Object(
  {
    from: Type.Optional(
      Type.String({
        description:
          'The sender, one address; the default sender of the workspace when left out. A live key needs a verified domain, a test key any well-formed address.',
        examples: ['Acme <hello@acme.example>'],
      }),
    ),
    to: AddressList(
      MOST_RECIPIENTS,
      `The recipients. to, cc and bcc name at most ${MOST_RECIPIENTS} together, each one once.`,
    ),
    cc: Type.Optional(AddressList(MOST_RECIPIENTS, 'Recipients of a copy.')),
    bcc: Type.Optional(AddressList(MOST_RECIPIENTS, 'Recipients of a copy that no other recipient sees.')),
    replyTo: Type.Optional(
      AddressList(
        10,
        'The reply address; the default of the workspace when left out. `auto` makes one by which received mail finds this email.',
      ),
    ),
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
    templateId: Type.Optional(
      Id('tpl', 'The template to send, by its id or alias. Not together with text, html or markdown.'),
    ),
    variables: Type.Optional(
      dictionary(Type.Unknown(), {
        description: 'Values for the variables of the template.',
        examples: [{ firstName: 'Ada' }],
      }),
    ),
    language: Type.Optional(
      Type.String({
        minLength: 2,
        maxLength: LONGEST_TAG,
        description:
          'The language of the email (BCP 47). A template is sent in its translation into this language, or the one it belongs to (`pt` for `pt-BR`), else in its own; `language` of the email tells which. The pages behind its links are shown in it.',
        examples: ['de'],
      }),
    ),
    headers: Type.Optional(
      dictionary(Type.String(), {
        maxProperties: 25,
        description:
          'Further header fields, by name. Fields that the service sets itself are refused, of which `messageId` gives one its value: From, To, Cc, Bcc, Subject, Reply-To, Date, Message-ID, Sender, Return-Path, Received, Received-SPF, Authentication-Results, and all that begin with MIME-, Content-, DKIM-, ARC-, Resent-, X-Svc- or X-SES-.',
        examples: [{ 'X-Entity-Ref-ID': '1842' }],
      }),
    ),
    attachments: Type.Optional(
      Type.Array(AttachmentInput, {
        maxItems: 20,
        description: 'Files. The finished message has at most 25 MiB; base64 makes a file a third larger.',
      }),
    ),
    calendar: Type.Optional(
      Type.Object(
        {
          method: literals(CALENDAR_METHODS, {
            description: 'The purpose of the invitation: REQUEST invites, CANCEL cancels, REPLY answers.',
          }),
          content: Type.String({
            maxLength: LONGEST_CALENDAR,
            description:
              'One calendar as iCalendar text (RFC 5545), whose line METHOD says the same as `method`.',
            examples: [CALENDAR_EXAMPLE],
          }),
        },
        {
          title: 'EmailCalendar',
          additionalProperties: false,
          description:
            'An invitation that mail programs show with buttons to answer it: a separate part beside text and html (RFC 6047).',
        },
      ),
    ),
    messageId: Type.Optional(
      Type.String({
        maxLength: LONGEST_MESSAGE_ID,
        description:
          'The Message-ID of the message, with angle brackets or without, at the domain of the sender. 409 where another email of the workspace has had it within 90 days. The service makes one when it is left out.',
        examples: ['<order-1842@acme.example>'],
      }),
    ),
    tags: Type.Optional(
      Type.Array(Tag, { maxItems: 10, description: 'Labels by which the email can be found and counted.' }),
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
        description: 'True records opens; the setting of the sending domain when left out.',
      }),
    ),
    trackClicks: Type.Optional(
      Type.Boolean({
        description: 'True records clicks; the setting of the sending domain when left out.',
      }),
    ),
    testClockId: Type.Optional(
      Id(
        'clk',
        'The test clock by which the email waits, instead of the real time; with a test key alone. The header `x-svc-test-clock` names it for a whole request. Its waits between attempts are then those of live mail.',
      ),
    ),
    simulate: Type.Optional(
      Type.String({
        maxLength: LONGEST_SCRIPT,
        description: `The outcomes for all recipients, in place of those of their addresses; with a test key alone. Separate them by commas: \`deferred*2, delivered, opened+5m, bounced+3d\`. First the results of attempts (\`deferred\`, then \`sent\`, \`bounced\`, \`suppressed\`, \`expired\` or the first report), then the reports: \`delivered\`, \`opened\`, \`clicked\`, \`complained\`, \`unsubscribed\`, \`bounced-transient\`, \`bounced\`. \`*n\` repeats, \`+5m\` (s, m, h, d) waits after the one before. At most ${MOST_OUTCOMES} outcomes within 30 days. The header \`x-svc-simulate\` sets it for a whole request.`,
        examples: ['deferred*2, delivered, opened+5m'],
      }),
    ),
  },
  { title: 'SendEmail', additionalProperties: false },
);

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
  { title: 'RescheduleEmail', additionalProperties: false },
);

export type RescheduleBody = Static<typeof RescheduleBody>;
