import { Type } from '@sinclair/typebox';
import { withCount } from '../../http/lists/count.ts';
import { withCsv } from '../../http/lists/list-csv.ts';
import { type Call, type Route, route } from '../../http/request/route.ts';
import { ApiRequest, ApiRequestQuery, type ApiRequestView } from './model.ts';
import { KEPT_DAYS, KEPT_OF_KEY, KEPT_OF_LIST } from './pruners.ts';
import {
  type ApiRequestFilter,
  countRequests,
  listRequests,
  type RequestLogReader,
  readRequest,
} from './queries.ts';
import { MOST_OF_KEY, MOST_OF_WORKSPACE, MOST_WAITING } from './recorder.ts';

const EXAMPLE: ApiRequestView = {
  id: 'req_01m7xj1rwp4sersf8ggsa354',
  livemode: true,
  apiKeyId: 'key_01m7xj1rwp4sersf8ggsa354',
  method: 'POST',
  route: '/v1/emails',
  path: '/v1/emails',
  status: 422,
  durationMs: 3,
  errorCode: 'VALIDATION_ERROR',
  createdAt: '2026-11-20T21:33:00.000Z',
};

const count = (number: number): string => number.toLocaleString('en');

export const requestLogRoutes = (deps: RequestLogReader): readonly Route[] => [
  ...withCount(
    { name: 'countRequests', summary: 'Count the requests of API keys' },
    (call: Call<unknown, ApiRequestFilter>) => countRequests(deps, call),
    withCsv(
      { name: 'exportRequests', file: 'requests.csv', summary: 'Download the requests of API keys as CSV' },
      route('GET /v1/requests', {
        name: 'listRequests',
        permission: 'api-keys:read',
        summary: 'List the requests of API keys',
        description: `Newest first, in the environment of the caller: the latest ${count(KEPT_OF_KEY)} requests of each key and ${count(KEPT_OF_LIST)} of the workspace, for ${KEPT_DAYS} days. A request appears about a second after its answer. Bodies, queries, headers and addresses of clients are never stored. Each instance stores a second at most ${MOST_OF_KEY} requests of a key of each kind (reads and changes, accepted and refused), ${MOST_OF_WORKSPACE} of a workspace, and ${MOST_WAITING} in all; under more load, or while the database is away, some are missing. Requests without a valid key, and those of the dashboard, are in no log.`,
        query: ApiRequestQuery,
        response: Type.Array(ApiRequest),
        example: { response: [EXAMPLE] },
        handle: (call) => listRequests(deps, call),
      }),
    ),
  ),
  route('GET /v1/requests/:id', {
    name: 'getRequest',
    permission: 'api-keys:read',
    summary: 'Get a request of an API key',
    description: 'By the `x-request-id` of its answer.',
    params: { id: { prefix: 'req', resource: 'request' } },
    response: ApiRequest,
    example: { response: EXAMPLE },
    handle: (call) => readRequest(deps, call),
  }),
];
