import { type Static, Type } from '@sinclair/typebox';
import { ItemError } from '../../../http/request/item-error.ts';
import { EmailReceipt } from '../read/answer-model.ts';
import { SendBody } from './request-model.ts';

/** The most emails that one call may send. */
const MOST_EMAILS = 100;

/**
 * The body of `POST /v1/emails/batch`. Each email is checked by itself, so that an invalid one does not hold
 * the others back.
 */
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

export type BatchBody = Static<typeof BatchBody>;

const Index = Type.Integer({ minimum: 0, description: 'The position in `emails`, from 0.' });

/** The result of one email of a batch: its receipt, or the error that refused it. */
export const BatchItem = Type.Union(
  [
    Type.Object({ index: Index, ...EmailReceipt.properties }),
    Type.Object({ index: Index, error: ItemError('/body/emails/1/to') }),
  ],
  { title: 'EmailBatchItem' },
);

/** The type of a batch's result. */
export type BatchItem = Static<typeof BatchItem>;
