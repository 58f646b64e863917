import { type Static, Type } from '@sinclair/typebox';
import { EmailReceipt } from '../read/answer-model.ts';
import { SendBody } from './request-model.ts';

/** The most emails that one call may send. */
const MOST_EMAILS = 100;

/** The body of `POST /v1/emails/batch`. Each email is checked by itself, so that an invalid one does not hold the others back. */
export const BatchBody = Type.Object(
  {
    emails: Type.Array(Type.Unknown({ ...SendBody }), {
      minItems: 1,
      maxItems: MOST_EMAILS,
      description: `1 to ${MOST_EMAILS} emails, each as \`POST /v1/emails\` takes it.`,
    }),
  },
  { title: 'SendEmailBatch' },
);

/** The type of that body. */
export type BatchBody = Static<typeof BatchBody>;

const Index = Type.Integer({ minimum: 0, description: 'The position in `emails`, from 0.' });

const Detail = Type.Object({
  path: Type.String({
    description: 'JSON pointer to the part of the request.',
    examples: ['/body/emails/1/to'],
  }),
  message: Type.String({ description: 'What is wrong with it.' }),
});

/** The result of one email of a batch: its receipt, or the error that refused it. */
export const BatchItem = Type.Union(
  [
    Type.Object({ index: Index, ...EmailReceipt.properties }),
    Type.Object({
      index: Index,
      error: Type.Object(
        {
          code: Type.String({
            description: 'As in the errors of whole calls.',
            examples: ['VALIDATION_ERROR'],
          }),
          message: Type.String({ description: 'For people; may change.' }),
          docs: Type.String({ description: 'The page about the code.' }),
          suggestion: Type.Optional(Type.String({ description: 'What may help.' })),
          details: Type.Optional(Type.Array(Detail, { description: 'Every place that is wrong.' })),
        },
        { description: 'Why this email was not accepted; nothing of it is stored.' },
      ),
    }),
  ],
  { title: 'EmailBatchItem' },
);

/** The type of a batch's result. */
export type BatchItem = Static<typeof BatchItem>;
