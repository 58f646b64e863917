import { type Static, Type } from '@sinclair/typebox';
import { waitQuery } from '../../../http/listen/waiting.ts';
import { EmailDetail } from '../read/answer-model.ts';

/** The query of `GET /v1/emails/wait`. */
export const EmailWaitQuery = waitQuery('email');

/** An email that was waited for: its detail, with what tests look for in it. */
export const AwaitedEmail = Type.Object(
  {
    ...EmailDetail.properties,
    links: Type.Array(Type.String(), {
      description: 'The web addresses in the html, then those in the text, each once; at most 100.',
    }),
    codes: Type.Array(Type.String(), {
      description:
        'Texts that look like a code to type in, from subject and text: 4 to 8 digits, `123-456` or `123 456` (as 123456), or 6 to 10 capitals and digits mixed; at most 20.',
    }),
  },
  { title: 'AwaitedEmail' },
);

/** That answer. */
export type AwaitedEmail = Static<typeof AwaitedEmail>;
