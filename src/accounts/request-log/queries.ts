import { and, desc, eq, gte, lt, type SQL } from 'drizzle-orm';
import { listById, withinRange } from '../../http/lists/list.ts';
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

/** The condition of a status (`422`) or a class (`4xx`). */
function withStatus(status: string): readonly SQL[] {
  const first = Number(status.replace('xx', '00'));
  const next = status.endsWith('xx') ? first + 100 : first + 1;
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
            .orderBy(desc(apiRequests.id))
            .limit(limit),
        ),
      item: viewOf,
    },
  );

/** One request. */
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
