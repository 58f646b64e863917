import { type Static, Type } from '@sinclair/typebox';
import { createdQuery, sortQuery } from '../../http/lists/list.ts';
import { pageQuery } from '../../http/lists/pagination.ts';
import { literals } from '../../http/request/schema.ts';
import { LOGGED_METHODS } from './recorder.ts';

/** The schema of a request of an API key. */
export const ApiRequest = Type.Object(
  {
    id: Type.String({ description: 'The `x-request-id` of the answer.' }),
    livemode: Type.Boolean(),
    apiKeyId: Type.String(),
    method: Type.String({ description: 'Such as `POST`; `OTHER` for a method that no endpoint has.' }),
    route: Type.String({
      description:
        'The path as this reference writes it, such as `/v1/emails/{id}`; `unknown` where no endpoint was found.',
    }),
    path: Type.String({
      description:
        'The route with the ids of the request. Of an unknown path only the words that some endpoint has are shown, and `…` in place of all others.',
    }),
    status: Type.Integer({ description: 'The HTTP status of the answer.' }),
    durationMs: Type.Integer({ description: 'From the arrival of the request to its answer.' }),
    errorCode: Type.Union([Type.String(), Type.Null()], {
      description: 'The `error.code` of a refusal; null for every other answer.',
    }),
    createdAt: Type.String({ format: 'date-time', description: 'When the request arrived.' }),
  },
  { title: 'ApiRequest' },
);

/** The query of GET /v1/requests. */
export const ApiRequestQuery = Type.Object({
  ...pageQuery,
  apiKeyId: Type.Optional(Type.String({ maxLength: 60, description: 'Only requests with this API key.' })),
  status: Type.Optional(
    Type.String({
      pattern: '^(?:[2-5]xx|[2-5][0-9][0-9])$',
      description:
        'Only answers with this status, such as `422`, or of this class: `2xx`, `3xx`, `4xx` or `5xx`.',
    }),
  ),
  method: Type.Optional(literals(LOGGED_METHODS, { description: 'Only requests with this method.' })),
  ...createdQuery,
  ...sortQuery(),
});

export type ApiRequestView = Static<typeof ApiRequest>;
export type ApiRequestQuery = Static<typeof ApiRequestQuery>;
