import { setTimeout as pause } from 'node:timers/promises';
import type { KeysInUse } from '../../platform/config/served-keys.ts';
import { keysInUse } from '../../platform/control/client.ts';
import type { Database } from '../../platform/db/database.ts';
import { IS_LIVING } from '../../platform/db/living.ts';

/** Instances look at the keys every ten seconds, and those that are gone count for 35 s. */
const PATIENCE_MS = 60_000;
const LOOK_MS = 250;

const INSTANCES = `select secret_keys as holds, seals_with as "sealsWith" from service_instances where ${IS_LIVING}`;

/**
 * The keys of every instance that lives; null for one of a version that knows of no rotation. @throws
 * UnavailableError, OtherVersion
 */
export async function readInstances(
  database: Database,
  dataDir: string,
): Promise<readonly (KeysInUse | null)[]> {
  if (database.kind === 'embedded') {
    const served = await keysInUse(dataDir);
    return served ? [served] : [];
  }
  const rows = await database.query<{ holds: string[] | null; sealsWith: string | null }>(INSTANCES);
  return rows.map(({ holds, sealsWith }) => (holds && sealsWith ? { holds, sealsWith } : null));
}

/** The number of instances, and of those that are not ready. */
export interface InstanceCounts {
  readonly all: number;
  readonly behind: number;
}

/**
 * Waits until all living instances are as they should be, for a minute at most. @throws UnavailableError,
 * OtherVersion
 */
export async function untilAll(
  read: () => Promise<readonly (KeysInUse | null)[]>,
  isRight: (keys: KeysInUse) => boolean,
  patienceMs = PATIENCE_MS,
): Promise<InstanceCounts> {
  const begin = performance.now();
  for (;;) {
    const instances = await read();
    const behind = instances.filter((keys) => !keys || !isRight(keys)).length;
    if (behind === 0 || performance.now() - begin > patienceMs) return { all: instances.length, behind };
    await pause(LOOK_MS);
  }
}
