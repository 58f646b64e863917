import { eq } from 'drizzle-orm';
import type { Engine } from '../../engine/engine.ts';
import { hashOfKey, mintApiKey, prefixOf } from '../../http/auth/api-key.ts';
import type { Permission } from '../../http/auth/permissions.ts';
import type { Database } from '../../platform/db/database.ts';
import { mintId, timePart } from '../../platform/db/ids.ts';
import { apiKeys } from '../../platform/db/schema/workspaces.ts';
import { codeOf } from '../../platform/db/sqlstate.ts';

// Keys that the operator creates: on the command line, and at the first start.

/** The properties of a new key. */
interface NewKey {
  readonly workspaceId: string;
  readonly livemode: boolean;
  readonly name: string;
  readonly permissions: readonly Permission[];
}

/** Creates a key and returns it; it cannot be shown again. @throws UnavailableError */
export async function issueKey(engine: Engine, wanted: NewKey, now: number): Promise<string> {
  const key = mintApiKey(wanted.livemode);
  await spawnKey(engine, mintId('key', now), key, wanted, now);
  return key;
}

/** The first key of an environment in a new installation. */
export interface FirstKey {
  readonly livemode: boolean;
  /** `generated` now and to be shown once, `given` by the operator now, or `kept` from an earlier start. */
  readonly origin: 'generated' | 'given' | 'kept';
  readonly key: string | null;
  /**
   * True when the operator provided a key but another first key already exists: the provided one was not
   * created.
   */
  readonly ignored: boolean;
}

/** Creates the first key of an environment, unless an earlier start or another instance has created it. */
export async function ensureFirstKey(
  { engine, database }: { readonly engine: Engine; readonly database: Database },
  workspace: { readonly id: string; readonly createdAt: number },
  livemode: boolean,
  given: string | null,
): Promise<FirstKey> {
  const key = given ?? mintApiKey(livemode);
  // The id is the same for all instances and starts, so the second one finds the row of the first.
  const id = `key_${timePart(workspace.createdAt)}${'0'.repeat(13)}${livemode ? 1 : 2}`;
  const name = livemode ? 'First live key' : 'First test key';
  const wanted: NewKey = { workspaceId: workspace.id, livemode, name, permissions: ['*'] };
  const kept = async (): Promise<FirstKey> => {
    const ignored = given !== null && !(await isKnown(database, given));
    return { livemode, origin: 'kept', key: null, ignored };
  };
  // Every start except the first finds the key: a look-up costs less than a refused insert.
  if (await isMade(database, id)) return kept();
  try {
    await spawnKey(engine, id, key, wanted, workspace.createdAt);
  } catch (error) {
    if (codeOf(error) !== UNIQUE_VIOLATION) throw error;
    return kept();
  }
  return given === null
    ? { livemode, origin: 'generated', key, ignored: false }
    : { livemode, origin: 'given', key: null, ignored: false };
}

const UNIQUE_VIOLATION = '23505';

async function spawnKey(engine: Engine, id: string, key: string, wanted: NewKey, at: number): Promise<void> {
  const { workspaceId, livemode, name, permissions } = wanted;
  await engine.spawn('apiKey', {
    id,
    workspaceId,
    livemode,
    input: { at, permissions },
    columns: { name, prefix: prefixOf(key), hash: hashOfKey(key), created_by: null },
  });
}

const isMade = async (database: Database, id: string): Promise<boolean> =>
  (await database.read((orm) => orm.select({ id: apiKeys.id }).from(apiKeys).where(eq(apiKeys.id, id))))
    .length > 0;

async function isKnown(database: Database, key: string): Promise<boolean> {
  const rows = await database.read((orm) =>
    orm
      .select({ id: apiKeys.id })
      .from(apiKeys)
      .where(eq(apiKeys.hash, hashOfKey(key))),
  );
  return rows.length > 0;
}
