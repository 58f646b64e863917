import { and, desc, eq } from 'drizzle-orm';
import { unionAll } from 'drizzle-orm/pg-core';
import type { ApiKeyContext } from '../../../machines/api-key/machine.ts';
import type { Permission } from '../../http/auth/permissions.ts';
import type { Principal } from '../../http/auth/principal.ts';
import type { WorkspaceTerms } from '../../http/auth/sessions/sessions.ts';
import type { Call } from '../../http/request/route.ts';
import type { Database } from '../../platform/db/database.ts';
import { timeOfId } from '../../platform/db/ids.ts';
import { apiKeys } from '../../platform/db/schema/workspaces.ts';
import { findTerms } from '../workspace/queries.ts';
import { type ApiKeyQuery, type ApiKeyView, MOST_KEYS } from './model.ts';

export interface KeyReader {
  readonly database: Database;
}

const columns = {
  id: apiKeys.id,
  name: apiKeys.name,
  prefix: apiKeys.prefix,
  livemode: apiKeys.livemode,
  context: apiKeys.context,
  lastUsedAt: apiKeys.lastUsedAt,
  revokedAt: apiKeys.revokedAt,
};

type Row = Pick<typeof apiKeys.$inferSelect, keyof typeof columns>;

const viewOf = (row: Row): ApiKeyView => ({
  id: row.id,
  name: row.name,
  prefix: row.prefix,
  env: row.livemode ? 'live' : 'test',
  permissions: [...(row.context as ApiKeyContext).permissions],
  createdAt: new Date(timeOfId(row.id)).toISOString(),
  lastUsedAt: row.lastUsedAt?.toISOString() ?? null,
  revokedAt: row.revokedAt?.toISOString() ?? null,
});

/**
 * The conditions of the keys that a caller administers: a live key all of its workspace, a test key the test
 * keys only.
 */
const visibleTo = (caller: Principal) => [
  eq(apiKeys.workspaceId, caller.workspaceId),
  ...(caller.livemode ? [] : [eq(apiKeys.livemode, false)]),
];

/** Reads a key that the caller may see. */
export async function findApiKey(
  { database }: KeyReader,
  caller: Principal,
  id: string,
): Promise<ApiKeyView | null> {
  const [row] = await database.read((orm) =>
    orm
      .select(columns)
      .from(apiKeys)
      .where(and(eq(apiKeys.id, id), ...visibleTo(caller))),
  );
  return row ? viewOf(row) : null;
}

/**
 * The keys that the caller may see, newest first, the latest revoked ones included. This list has no pages:
 * the active ones are limited.
 */
export async function listApiKeys(
  { database }: KeyReader,
  { caller, query: { createdBy } }: Pick<Call<unknown, ApiKeyQuery>, 'caller' | 'query'>,
): Promise<readonly ApiKeyView[]> {
  const rows = await database.read((orm) => {
    const keysThat = (state: 'active' | 'revoked') => {
      const maker = createdBy === undefined ? undefined : eq(apiKeys.createdBy, createdBy);
      return orm
        .select(columns)
        .from(apiKeys)
        .where(and(...visibleTo(caller), eq(apiKeys.state, state), maker));
    };
    return unionAll(
      keysThat('active'),
      keysThat('revoked').orderBy(desc(apiKeys.id)).limit(MOST_KEYS),
    ).orderBy(desc(apiKeys.id));
  });
  return rows.map(viewOf);
}

/**
 * Reads the permissions of an active key and the terms of its workspace, for sessions; null when the key was
 * revoked.
 */
export async function findActiveKey(
  database: Database,
  id: string,
): Promise<({ readonly permissions: readonly Permission[] } & WorkspaceTerms) | null> {
  const [row] = await database.query<{ context: ApiKeyContext; workspace_id: string }>(
    `select context, workspace_id from api_keys where id = $1 and state = 'active'`,
    [id],
  );
  const terms = row && (await findTerms(database, row.workspace_id));
  return terms ? { permissions: row.context.permissions as readonly Permission[], ...terms } : null;
}
