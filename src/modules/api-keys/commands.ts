import { mintId, timePart } from '../../db/ids.ts';
import { codeOf } from '../../db/sqlstate.ts';
import type { Engine } from '../../engine/engine.ts';
import type { Permission } from '../../http/permissions.ts';
import { hashOfKey, mintKey, prefixOfKey } from './key-secret.ts';
import { apiKeyKind } from './kind.ts';

/** What the owner of a new key decides. */
export interface NewKey {
  readonly workspaceId: string;
  readonly livemode: boolean;
  readonly name: string;
  readonly permissions: readonly Permission[];
}

/** A key just made. The secret is shown to its owner now and never again. */
export interface IssuedKey {
  readonly id: string;
  readonly key: string;
}

/** Makes a key. @throws Unavailable */
export async function issueKey(engine: Engine, wanted: NewKey, now: number): Promise<IssuedKey> {
  const issued = { id: mintId('key', now), key: mintKey(wanted.livemode) };
  await spawnKey(engine, issued, wanted, now);
  return issued;
}

async function spawnKey(engine: Engine, { id, key }: IssuedKey, wanted: NewKey, now: number): Promise<void> {
  await engine.spawn(apiKeyKind.name, {
    id,
    workspaceId: wanted.workspaceId,
    livemode: wanted.livemode,
    input: { at: now, permissions: wanted.permissions },
    columns: { name: wanted.name, prefix: prefixOfKey(key), hash: hashOfKey(key) },
  });
}

/** The key of one environment that a new installation begins with. */
export interface FirstKey {
  readonly livemode: boolean;
  /** Its secret where it was generated just now; null where the operator set it, or where it was there before. */
  readonly generated: string | null;
  /** The operator set one, and it is not the key that was made on the first start. */
  readonly ignored: boolean;
}

/** Makes the first key of an environment unless an earlier start, or another instance, has made it. */
export async function ensureFirstKey(
  engine: Engine,
  workspace: { readonly id: string; readonly createdAt: number },
  livemode: boolean,
  given: string | null,
): Promise<FirstKey> {
  const key = given ?? mintKey(livemode);
  // One id for all instances and all starts: whoever comes second finds the row there.
  const id = `key_${timePart(workspace.createdAt)}${'0'.repeat(13)}${livemode ? 1 : 2}`;
  const wanted: NewKey = {
    workspaceId: workspace.id,
    livemode,
    name: livemode ? 'First live key' : 'First test key',
    permissions: ['*'],
  };
  try {
    await spawnKey(engine, { id, key }, wanted, workspace.createdAt);
    return { livemode, generated: given === null ? key : null, ignored: false };
  } catch (error) {
    if (codeOf(error) !== UNIQUE_VIOLATION) throw error;
    return { livemode, generated: null, ignored: given !== null };
  }
}

const UNIQUE_VIOLATION = '23505';
