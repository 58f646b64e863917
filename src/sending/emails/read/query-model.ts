import { type Static, Type } from '@sinclair/typebox';
import { createdQuery, sortQuery } from '../../../http/lists/list.ts';
import { Id } from '../schema-fields.ts';
import { EmailStatus } from './answer-model.ts';

/** The filters of `GET /v1/emails`. */
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
    ...createdQuery,
    ...sortQuery(),
  },
  { additionalProperties: false },
);

export type EmailQuery = Static<typeof EmailQuery>;
