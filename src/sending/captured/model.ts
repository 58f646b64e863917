import { type Static, Type } from '@sinclair/typebox';
import { waitQuery } from '../../http/listen/waiting.ts';
import { pageQuery } from '../../http/lists/pagination.ts';

const nullableText = (description: string) => Type.Union([Type.String(), Type.Null()], { description });

/** A captured message in the list. */
export const CapturedItem = Type.Object(
  {
    id: Type.String({ description: 'The captured copy.', examples: ['cap_01m7xj1rwzprnwr10308attx'] }),
    emailId: Type.String({ description: 'The email it is a copy of.' }),
    recipient: Type.String({ description: 'Whose copy it is.', examples: ['ada@example.com'] }),
    from: Type.String({ description: 'The sender, as the recipient would see it.' }),
    subject: Type.String(),
    size: Type.Integer({ description: 'Octets of the whole message.' }),
    capturedAt: Type.String({ format: 'date-time' }),
  },
  { title: 'CapturedEmailItem' },
);

/** A captured message with its content. */
export const CapturedDetail = Type.Object(
  {
    ...CapturedItem.properties,
    returnPath: Type.String({ description: 'The envelope sender, to which a bounce would have come.' }),
    headers: Type.Array(Type.Object({ name: Type.String(), value: Type.String() }), {
      description: 'Every header field in its order, decoded and unfolded.',
    }),
    text: nullableText('The text part.'),
    html: nullableText('The html part.'),
    attachments: Type.Array(
      Type.Object({
        filename: nullableText('Its name.'),
        contentType: Type.String(),
        contentId: nullableText('Where the html shows it.'),
        size: Type.Integer({ description: 'Octets.' }),
      }),
    ),
    raw: Type.String({ description: 'The message as it would have left, signatures included.' }),
  },
  { title: 'CapturedEmail' },
);

/** A captured message that was waited for, with what tests look for in it. */
export const AwaitedCapture = Type.Object(
  {
    ...CapturedItem.properties,
    text: nullableText('The text part.'),
    html: nullableText('The html part.'),
    links: Type.Array(Type.String(), {
      description: 'The web addresses in the html, then those in the text, each once; at most 100.',
    }),
    codes: Type.Array(Type.String(), {
      description: 'What looks like a code to type in, as `AwaitedEmail` says; at most 20.',
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
  emailId: Type.Optional(Type.String({ maxLength: 60, description: 'Copies of one email.' })),
  recipient: Type.Optional(
    Type.String({ maxLength: 320, description: 'Copies for one address, as it was written.' }),
  ),
});

export type AwaitedCapture = Static<typeof AwaitedCapture>;
export type CapturedItem = Static<typeof CapturedItem>;
export type CapturedDetail = Static<typeof CapturedDetail>;
export type CapturedSpam = Static<typeof CapturedSpam>;
export type CapturedQuery = Static<typeof CapturedQuery>;
