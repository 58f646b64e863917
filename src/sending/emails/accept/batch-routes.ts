import { Type } from '@sinclair/typebox';
import { type Route, route } from '../../../http/request/route.ts';
import { RECEIPT, SEND_BODY } from '../examples.ts';
import { BATCH_PATH, type BatchDeps, batchSender } from './batch.ts';
import { BatchBody, BatchItem } from './batch-model.ts';

export const batchRoutes = (deps: BatchDeps): readonly Route[] => {
  const send = batchSender(deps);
  return [
    route(`POST ${BATCH_PATH}`, {
      name: 'sendEmailBatch',
      permission: 'emails:send',
      summary: 'Send or schedule up to 100 emails in one call',
      description: `Each email is accepted or refused by itself, by the same rules as in \`POST /v1/emails\`; an item has the \`index\` of the email, and either its receipt or an \`error\`. The reply is 202 even where every email was refused, so look at the items. The call counts once against the request limits, each accepted email once against the quota; where the quota ends in the middle, the rest is refused with QUOTA_EXCEEDED.

An \`Idempotency-Key\` covers the whole call. When the call is repeated, accepted emails get their first answer and none is accepted twice, also after a crash in the middle; refused emails are tried again. \`idempotency-replayed\` is set when nothing was new.`,
      body: BatchBody,
      bodyLimit: 31_457_280,
      headers: ['x-svc-test-clock', 'x-svc-simulate'],
      response: Type.Array(BatchItem),
      status: 202,
      example: {
        body: { emails: [SEND_BODY, { ...SEND_BODY, to: 'nobody' }] },
        response: [
          { index: 0, ...RECEIPT },
          {
            index: 1,
            error: {
              code: 'VALIDATION_ERROR',
              message: 'One value of the request is not valid.',
              docs: 'http://localhost:3000/docs/errors#VALIDATION_ERROR',
              details: [
                {
                  path: '/body/emails/1/to',
                  message: 'Must be an address: user@host, or Name <user@host>.',
                },
              ],
            },
          },
        ],
      },
      handle: send,
    }),
  ];
};
