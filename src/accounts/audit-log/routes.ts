import { type Static, Type } from '@sinclair/typebox';
import { and, eq } from 'drizzle-orm';
import { countSql, readCount, withCount } from '../../http/lists/count.ts';
import {
  createdQuery,
  type FilterOf,
  idRangeOf,
  inOrder,
  listById,
  sortQuery,
  withinRange,
} from '../../http/lists/list.ts';
import { withCsv } from '../../http/lists/list-csv.ts';
import { pageQuery } from '../../http/lists/pagination.ts';
import { type Call, type Route, route } from '../../http/request/route.ts';
import { literals } from '../../http/request/schema.ts';
import { timeOfId } from '../../platform/db/ids.ts';
import type { Reads } from '../../platform/db/reads.ts';
import { auditLog } from '../../platform/db/schema/accounts.ts';

const ACTORS = ['member', 'apiKey', 'operator', 'system'] as const;
const nullableText = (description: string) => Type.Union([Type.String({ description }), Type.Null()]);

const Entry = Type.Object(
  {
    id: Type.String(),
    at: Type.String({ format: 'date-time' }),
    actor: Type.Object({
      type: literals(ACTORS),
      id: nullableText('The id of the member or the key; null for the operator and the service itself.'),
      name: nullableText('The name at that time.'),
    }),
    action: Type.String({ description: 'Such as `apiKey.created` or `member.changed`.' }),
    target: Type.Object({
      type: Type.String({ description: 'The part of the action before its dot.' }),
      id: nullableText('Null where the act has no target.'),
    }),
    requestId: nullableText(
      'The `x-request-id` of the answer, which identifies the request in the log of the service; null for acts of the operator on the command line.',
    ),
    details: Type.Unsafe<Record<string, unknown>>(
      Type.Object({}, { additionalProperties: true, description: 'Further details of the act.' }),
    ),
  },
  { title: 'AuditLogEntry' },
);

const Query = Type.Object({
  ...pageQuery,
  actor: Type.Optional(Type.String({ maxLength: 60, description: 'The id of a member or a key.' })),
  action: Type.Optional(Type.String({ maxLength: 60, description: 'One action, such as `apiKey.created`.' })),
  ...createdQuery,
  ...sortQuery(),
});

export interface AuditLogDeps {
  readonly reads: Reads;
}

type Row = typeof auditLog.$inferSelect;

const entryOf = (row: Row): Static<typeof Entry> => ({
  id: row.id,
  at: new Date(timeOfId(row.id)).toISOString(),
  actor: { type: row.actorType, id: row.actorId, name: row.actorName },
  action: row.action,
  target: { type: row.action.split('.')[0] ?? '', id: row.targetId },
  requestId: row.requestId,
  details: row.details as Record<string, unknown>,
});

type Filter = FilterOf<Static<typeof Query>>;

const COUNT = countSql(
  `select * from audit_log where workspace_id = $1 and ($2::text is null or id < $2) and ($3::text is null or id >= $3)
  order by id desc`,
  'l',
  '($4::text is null or actor_id = $4) and ($5::text is null or action = $5)',
);

export const auditLogRoutes = ({ reads }: AuditLogDeps): readonly Route[] => [
  ...withCount(
    { name: 'countAuditLog', summary: 'Count the entries of the audit log' },
    ({ caller, query }: Call<unknown, Filter>) => {
      const { below, from } = idRangeOf('log', null, query);
      return readCount(reads, COUNT, [
        caller.workspaceId,
        below,
        from,
        query.actor ?? null,
        query.action ?? null,
      ]);
    },
    withCsv(
      { name: 'exportAuditLog', file: 'audit-log.csv', summary: 'Download the audit log as CSV' },
      route('GET /v1/audit-log', {
        name: 'listAuditLog',
        permission: 'members:write',
        // It tells of the live environment too, and a test key sees test data only.
        testMode: 'members',
        summary: 'List the audit log of the workspace',
        description:
          'Newest first, in both environments, for one year. Changes are recorded, and so are downloads of lists of people; other reads are not.',
        query: Query,
        response: Type.Array(Entry),
        example: {
          response: [
            {
              id: 'log_01m7xj1rwp4sersf8ggsa354',
              at: '2026-11-20T21:33:00.000Z',
              actor: { type: 'member', id: 'mem_01m7xj1rwp4sersf8ggsa354', name: 'Ada Lovelace' },
              action: 'member.changed',
              target: { type: 'member', id: 'mem_01m7xj1rwp4sersf8ggsa355' },
              requestId: 'req_01m7xj1rwp4sersf8ggsa354',
              details: { role: 'admin' },
            },
          ],
        },
        handle: ({ caller, query }) =>
          listById(
            { caller, query },
            {
              list: 'audit-log',
              prefix: 'log',
              rows: (range, limit) =>
                reads.read((orm) =>
                  orm
                    .select()
                    .from(auditLog)
                    .where(
                      and(
                        eq(auditLog.workspaceId, caller.workspaceId),
                        query.actor === undefined ? undefined : eq(auditLog.actorId, query.actor),
                        query.action === undefined ? undefined : eq(auditLog.action, query.action),
                        ...withinRange(auditLog.id, range),
                      ),
                    )
                    .orderBy(inOrder(auditLog.id, range))
                    .limit(limit),
                ),
              item: entryOf,
            },
          ),
      }),
    ),
  ),
];
