import { and, eq, gte, lt, type SQL } from 'drizzle-orm';
import { type CountView, countSql, readCount } from '../../http/lists/count.ts';
import { type FilterOf, idRangeOf, inOrder, listById, withinRange } from '../../http/lists/list.ts';
import type { Call, Page } from '../../http/request/route.ts';
import { timeOfId } from '../../platform/db/ids.ts';
import type { Reads } from '../../platform/db/reads.ts';
import { apiRequests } from '../../platform/db/schema/accounts.ts';
import { type Failure, notFound } from '../../platform/errors/failure.ts';
import type { ApiRequestQuery, ApiRequestView } from './model.ts';

/** The parts that the log is read with. */
export interface RequestLogReader {
  readonly reads: Reads;
}

type Row = typeof apiRequests.$inferSelect;

const viewOf = ({ workspaceId: _, id, errorCode, ...row }: Row): ApiRequestView => ({
  id,
  ...row,
  errorCode,
  createdAt: new Date(timeOfId(id)).toISOString(),
});

/** The requests of an environment are for its callers alone. */
const visibleTo = ({ workspaceId, livemode }: Call['caller']): readonly SQL[] => [
  eq(apiRequests.workspaceId, workspaceId),
  eq(apiRequests.livemode, livemode),
];

/** The first status that a filter means, one (`422`) or a class (`4xx`), and the first one beyond. */
function statusRange(status: string): readonly [number, number] {
  const first = Number(status.replace('xx', '00'));
  return [first, status.endsWith('xx') ? first + 100 : first + 1];
}

function withStatus(status: string): readonly SQL[] {
  const [first, next] = statusRange(status);
  return [gte(apiRequests.status, first), lt(apiRequests.status, next)];
}

/** The requests of API keys, newest first. */
export const listRequests = (
  { reads }: RequestLogReader,
  { caller, query }: Pick<Call<unknown, ApiRequestQuery>, 'caller' | 'query'>,
): Promise<Page<ApiRequestView> | Failure> =>
  listById(
    { caller, query },
    {
      list: 'requests',
      prefix: 'req',
      rows: (range, limit) =>
        reads.read((orm) =>
          orm
            .select()
            .from(apiRequests)
            .where(
              and(
                ...visibleTo(caller),
                ...(query.apiKeyId === undefined ? [] : [eq(apiRequests.apiKeyId, query.apiKeyId)]),
                ...(query.method === undefined ? [] : [eq(apiRequests.method, query.method)]),
                ...(query.status === undefined ? [] : withStatus(query.status)),
                ...withinRange(apiRequests.id, range),
              ),
            )
            .orderBy(inOrder(apiRequests.id, range))
            .limit(limit),
        ),
      item: viewOf,
    },
  );

export type ApiRequestFilter = FilterOf<ApiRequestQuery>;

const COUNT = countSql(
  `select * from api_requests where workspace_id = $1 and livemode = $2::boolean and ($3::text is null or id < $3)
  and ($4::text is null or id >= $4) order by id desc`,
  'r',
  '($5::text is null or api_key_id = $5) and ($6::text is null or method = $6) and ($7::integer is null or status >= $7 and status < $8::integer)',
);

/** Counts the requests of API keys. */
export function countRequests(
  { reads }: RequestLogReader,
  { caller, query }: Call<unknown, ApiRequestFilter>,
): Promise<CountView> {
  const { apiKeyId = null, method = null, status } = query;
  const { below, from } = idRangeOf('req', null, query);
  const [first, next] = status === undefined ? [null, null] : statusRange(status);
  const values = [caller.workspaceId, caller.livemode, below, from, apiKeyId, method, first, next];
  return readCount(reads, COUNT, values);
}

export async function readRequest(
  { reads }: RequestLogReader,
  { caller, params: { id } }: Pick<Call<{ id: string }>, 'caller' | 'params'>,
): Promise<ApiRequestView | Failure> {
  const [row] = await reads.read((orm) =>
    orm
      .select()
      .from(apiRequests)
      .where(and(...visibleTo(caller), eq(apiRequests.id, id))),
  );
  return row ? viewOf(row) : notFound('request');
}
