import { type Static, Type } from '@sinclair/typebox';
import { waitQuery } from '../../http/listen/waiting.ts';
import { sortQuery } from '../../http/lists/list.ts';
import { pageQuery } from '../../http/lists/pagination.ts';

const nullableText = (description: string) => Type.Union([Type.String(), Type.Null()], { description });

/** A captured message in the list. */
export const CapturedItem = Type.Object(
  {
    id: Type.String({
      description: 'The id of the captured copy.',
      examples: ['cap_01m7xj1rwzprnwr10308attx'],
    }),
    emailId: Type.String({ description: 'The id of the email.' }),
    recipient: Type.String({ description: 'The recipient of the copy.', examples: ['ada@example.com'] }),
    from: Type.String({ description: 'The sender that the recipient would see.' }),
    subject: Type.String(),
    size: Type.Integer({ description: 'The size of the whole message, in octets.' }),
    capturedAt: Type.String({ format: 'date-time' }),
  },
  { title: 'CapturedEmailItem' },
);

/** A captured message with its content. */
export const CapturedDetail = Type.Object(
  {
    ...CapturedItem.properties,
    returnPath: Type.String({ description: 'The envelope sender, to which bounces would be sent.' }),
    headers: Type.Array(Type.Object({ name: Type.String(), value: Type.String() }), {
      description: 'All header fields in order, decoded and unfolded.',
    }),
    text: nullableText('The text part.'),
    html: nullableText('The html part.'),
    attachments: Type.Array(
      Type.Object({
        filename: nullableText('Its name.'),
        contentType: Type.String(),
        contentId: nullableText('The Content-ID by which the html shows it.'),
        size: Type.Integer({ description: 'Octets.' }),
      }),
    ),
    raw: Type.String({
      description: 'The message as the mail server would have received it, signatures included.',
    }),
  },
  { title: 'CapturedEmail' },
);

/** A captured message that a request waited for, with the parts that tests look for. */
export const AwaitedCapture = Type.Object(
  {
    ...CapturedItem.properties,
    text: nullableText('The text part.'),
    html: nullableText('The html part.'),
    links: Type.Array(Type.String(), {
      description: 'The web addresses in the html, then those in the text, each once; at most 100.',
    }),
    codes: Type.Array(Type.String(), {
      description: 'Words that look like a code to type in, as in `AwaitedEmail`; at most 20.',
    }),
  },
  { title: 'AwaitedCapture' },
);

/** The query of `GET /v1/captured/wait`. */
export const CapturedWaitQuery = waitQuery('copy');

/** SpamAssassin's verdict on a captured message. */
export const CapturedSpam = Type.Object({
  isConfigured: Type.Boolean(),
  verdict: Type.Union([
    Type.Null(),
    Type.Object({
      score: Type.Number(),
      threshold: Type.Number(),
      rules: Type.Array(
        Type.Object({
          name: Type.String(),
          points: Type.Number(),
          description: Type.String(),
          advice: Type.Union([Type.Null(), Type.String()]),
        }),
      ),
    }),
  ]),
});

/** The filters of the list. */
export const CapturedQuery = Type.Object({
  ...pageQuery,
  emailId: Type.Optional(Type.String({ maxLength: 60, description: 'Only copies of this email.' })),
  recipient: Type.Optional(
    Type.String({ maxLength: 320, description: 'Only copies for this address, ignoring case.' }),
  ),
  ...sortQuery(),
});

export type AwaitedCapture = Static<typeof AwaitedCapture>;
export type CapturedItem = Static<typeof CapturedItem>;
export type CapturedDetail = Static<typeof CapturedDetail>;
export type CapturedSpam = Static<typeof CapturedSpam>;
export type CapturedQuery = Static<typeof CapturedQuery>;
