import { and, eq } from 'drizzle-orm';
import type { Engine } from '../../engine/engine.ts';
import { hashOfKey, mintApiKey, prefixOf } from '../../http/auth/api-key.ts';
import { holds, type Permission } from '../../http/auth/permissions.ts';
import { lacking, type Principal } from '../../http/auth/principal.ts';
import { claimOnce, idempotently, keyedBy } from '../../http/request/idempotent.ts';
import { type Call, Replay } from '../../http/request/route.ts';
import type { Sealer } from '../../platform/crypto/sealer.ts';
import { mintId, timeOfId } from '../../platform/db/ids.ts';
import { members } from '../../platform/db/schema/accounts.ts';
import { apiKeys } from '../../platform/db/schema/workspaces.ts';
import { Failure, invalidAt, notFound } from '../../platform/errors/failure.ts';
import { actRecorder } from '../audit-log/commands.ts';
import { type ApiKeyView, MOST_KEYS, type NewApiKey } from './model.ts';
import { findApiKey, type KeyReader } from './queries.ts';

export interface ApiKeyCommands extends KeyReader {
  readonly engine: Engine;
  readonly sealer: Sealer;
}

const REPLY = 'idempotent reply';

const TOO_MANY = new Failure(
  'CONFLICT',
  `This environment has ${MOST_KEYS.toLocaleString('en')} active API keys, the maximum.`,
  { suggestion: 'Revoke some that you no longer need.' },
);

/** `*` includes every other permission and is stored alone. */
const normalized = (permissions: readonly Permission[]): readonly Permission[] =>
  permissions.includes('*') ? ['*'] : permissions;

/** Refuses to give a key permissions that its creator lacks. */
const beyond = (caller: Principal, permissions: readonly Permission[]): Failure | null => {
  const missing = permissions.find((permission) => !holds(caller.permissions, permission));
  return missing === undefined ? null : lacking(missing, caller);
};

/** Creates a key. Only this reply shows it. */
export async function createApiKey(
  commands: ApiKeyCommands,
  call: Call<unknown, unknown, NewApiKey>,
): Promise<(ApiKeyView & { key: string }) | Failure | Replay> {
  const { caller, body, now } = call;
  const { engine, sealer } = commands;
  const livemode = body.env === 'live';
  const permissions = normalized(body.permissions as Permission[]);
  if (livemode && !caller.livemode)
    return new Failure('FORBIDDEN', 'A test key cannot create a live key.', {
      suggestion: 'Use a live key that holds api-keys:write.',
    });
  const refusal = beyond(caller, permissions);
  if (refusal) return refusal;

  const key = mintApiKey(livemode);
  const id = mintId('key', now);
  const view = {
    id,
    name: body.name,
    key,
    prefix: prefixOf(key),
    env: body.env,
    permissions: [...permissions],
    createdAt: new Date(timeOfId(id)).toISOString(),
    lastUsedAt: null,
    revokedAt: null,
  };
  const keyed = keyedBy(call);
  const created = await idempotently(commands.database, keyed, {
    run: async () => {
      const spawned = await engine.spawn('apiKey', {
        id,
        workspaceId: caller.workspaceId,
        livemode,
        input: { at: now, permissions },
        columns: {
          name: body.name,
          prefix: view.prefix,
          hash: hashOfKey(key),
          created_by: caller.id,
          most_api_keys: MOST_KEYS,
        },
        claim: claimOnce(keyed, 201, () => sealer.seal(JSON.stringify(view), REPLY)),
      });
      if (spawned.outcome === 'withheld') return TOO_MANY;
      return spawned.outcome === 'replayed' ? spawned : view;
    },
    open: (reply) => JSON.parse(sealer.open(reply, REPLY)),
  });
  if (created instanceof Failure) return created;
  if (created instanceof Replay) return shownAgain(commands, caller, created);
  if (await isStillThere(commands, caller)) return created;
  await revokeApiKey(commands, { caller: { ...caller, permissions: ['*'] }, params: { id }, now });
  return GONE;
}

const GONE = new Failure('UNAUTHORIZED', 'The member or key that makes this request was removed meanwhile.');

/**
 * The check comes after the key is stored: a later removal finds the key and can revoke it with the others,
 * and a caller removed earlier, while the request ran, leaves no key behind.
 */
async function isStillThere({ database }: KeyReader, { kind, id, workspaceId }: Principal): Promise<boolean> {
  if (kind === 'operatorLink') return true;
  const rows = await database.read((orm) =>
    orm
      .select({ id: members.id })
      .from(members)
      .where(and(eq(members.id, id), eq(members.workspaceId, workspaceId)))
      .union(
        orm
          .select({ id: apiKeys.id })
          .from(apiKeys)
          .where(and(eq(apiKeys.id, id), eq(apiKeys.state, 'active'))),
      ),
  );
  return rows.length > 0;
}

/**
 * A key may have received more permissions since it was created, so a repeated request shows it only to a
 * caller who could grant them now.
 */
async function shownAgain(
  commands: ApiKeyCommands,
  caller: Principal,
  replay: Replay,
): Promise<Replay | Failure> {
  const key = await findApiKey(commands, caller, (replay.body as ApiKeyView).id);
  return (key && beyond(caller, key.permissions as Permission[])) ?? replay;
}

/** Refuses to change a key with `*` for a caller without: with fewer permissions they could revoke it. */
const beyondCaller = (
  caller: Principal,
  { permissions, revokedAt }: Pick<ApiKeyView, 'permissions' | 'revokedAt'>,
): Failure | null =>
  revokedAt === null && permissions.includes('*') && !holds(caller.permissions, '*')
    ? lacking('*', caller)
    : null;

/** Replaces the permissions of a key; takes effect on the next request. */
export async function patchApiKey(
  commands: ApiKeyCommands,
  { caller, params, body, now }: Call<{ readonly id: string }, unknown, { permissions: readonly string[] }>,
): Promise<ApiKeyView | Failure> {
  const key = await findApiKey(commands, caller, params.id);
  if (!key) return notFound('API key');
  const permissions = normalized(body.permissions as Permission[]);
  if (params.id === caller.id && !holds(permissions, 'api-keys:write'))
    return invalidAt(
      '/body/permissions',
      'A key cannot remove api-keys:write from itself; use another key for that.',
    );
  const refusal = beyondCaller(caller, key) ?? beyond(caller, permissions);
  if (refusal) return refusal;
  const result = await commands.engine.tell(
    'apiKey',
    params.id,
    { type: 'permissions.replaced', at: now, permissions },
    { scope: { workspaceId: caller.workspaceId, livemode: key.env === 'live' } },
  );
  if (result.outcome === 'absent') return notFound('API key');
  if (result.outcome === 'refused')
    return new Failure('CONFLICT', 'This API key is revoked; its permissions cannot change.');
  return { ...key, permissions: [...permissions] };
}

/**
 * Revokes a key at once. Revoking it again is not an error. A key with `*` can be revoked only by another one
 * with `*`.
 */
export async function revokeApiKey(
  commands: ApiKeyCommands,
  { caller, params, now }: Pick<Call<{ readonly id: string }>, 'caller' | 'params' | 'now'>,
): Promise<{ id: string } | Failure> {
  const key = await findApiKey(commands, caller, params.id);
  if (!key) return notFound('API key');
  const refusal = beyondCaller(caller, key);
  if (refusal) return refusal;
  const result = await commands.engine.tell(
    'apiKey',
    params.id,
    { type: 'revoke.requested', at: now },
    {
      scope: { workspaceId: caller.workspaceId, livemode: key.env === 'live' },
    },
  );
  return result.outcome === 'absent' ? notFound('API key') : { id: params.id };
}

/** The active keys that a member has created, and those that these keys have created. */
const MADE_BY = `with recursive made as (
  select id from api_keys where workspace_id = $1 and created_by = $2
  union
  select k.id from made m join api_keys k on k.workspace_id = $1 and k.created_by = m.id
)
select k.id from made m join api_keys k on k.id = m.id and k.state = 'active' order by k.id`;

/**
 * Revokes every active key that a member created, with those that these keys created, and returns their ids.
 * If the caller may not revoke all of them, none is revoked. Repeating it resumes where it stopped. @throws
 * UnavailableError
 */
export async function revokeKeysOf(
  commands: ApiKeyCommands,
  { caller, now, requestId }: Pick<Call, 'caller' | 'now' | 'requestId'>,
  makerId: string,
): Promise<readonly string[] | Failure> {
  if (!holds(caller.permissions, 'api-keys:write')) return lacking('api-keys:write', caller);
  // A removal applies to both environments, whichever the request comes from.
  const everywhere = { ...caller, livemode: true };
  const rows = await commands.database.query<{ id: string }>(MADE_BY, [caller.workspaceId, makerId]);
  const keys = await Promise.all(rows.map(({ id }) => findApiKey(commands, everywhere, id)));
  if (keys.some((key) => key?.permissions.includes('*')) && !holds(caller.permissions, '*'))
    return lacking('*', caller);
  const record = actRecorder(commands.database);
  for (const { id } of rows) {
    const revoked = await revokeApiKey(commands, { caller: everywhere, params: { id }, now });
    if (revoked instanceof Failure) return revoked;
    const details = { createdBy: makerId };
    await record({ caller, action: 'apiKey.revoked', targetId: id, details, now, requestId });
  }
  return rows.map(({ id }) => id);
}
