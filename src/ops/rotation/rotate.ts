import { existsSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import {
  discardNextSecretKey,
  type KeySource,
  lockSecretKeys,
  presentSecretKeys,
  secretKeyFile,
  settleSecretKey,
} from '../../platform/config/secret-key.ts';
import { SEALED_COLUMNS } from '../../platform/crypto/sealed-columns.ts';
import type { Keys } from '../../platform/crypto/secret-key.ts';
import { readFormerKeys, readKeys, turnTo } from '../../platform/db/canary.ts';
import type { Database } from '../../platform/db/database.ts';
import { type InstanceCounts, readInstances, untilAll } from './instances.ts';
import { resealColumn } from './reseal.ts';
import { targetOf } from './target.ts';

/**
 * An instance may have sealed a text just before it changed the key, and store it a moment later: after this
 * time the rotation looks once more.
 */
const LOOK_AGAIN_MS = 2_000;
/** After so many passes the operator runs the command again, to wait for instances that lag. */
const MOST_PASSES = 10;

export type RotationResult =
  /** The database has never been used with a key. */
  | { readonly outcome: 'unbound' }
  | { readonly outcome: 'nothing'; readonly reason: string; readonly isFine: boolean }
  /** Nothing has changed: instances live that do not have the new key. */
  | ({ readonly outcome: 'refused' } & InstanceCounts)
  /**
   * The database uses the new key, but living instances seal with the previous one, or do so faster than it
   * is resealed.
   */
  | ({ readonly outcome: 'unfinished' } & InstanceCounts)
  | { readonly outcome: 'done'; readonly lost: readonly UnreadableTexts[] };

/** Texts that no key opens which is there. */
export interface UnreadableTexts {
  readonly what: string;
  readonly rows: number;
}

/** Receives the progress of a rotation. */
export interface RotationProgress {
  waiting(): void;
  turned(): void;
  resealed(what: string, rows: number): void;
}

const FINISH = 'update former_secret_keys set resealed_at = clock_timestamp() where resealed_at is null';

/**
 * Moves a database to another key while it is served. Every step can be repeated, so that a rotation that was
 * killed goes on with the same command: all instances get the new key before anything is sealed with it, the
 * database says which key seals, and texts sealed with the previous key are resealed row by row, and can be
 * opened all the while. @throws WrongSecretKey, NoSecretKey, UnavailableError
 */
export async function rotate(
  database: Database,
  source: KeySource,
  progress: RotationProgress,
  patienceMs?: number,
): Promise<RotationResult> {
  // Without the file of a key nothing is moved, and no directory is made for the lock.
  const isInFiles = source.secretKey === null && existsSync(secretKeyFile(source.dataDir));
  if (!isInFiles) return await turnAndReseal(database, source, progress, patienceMs);
  const lock = lockSecretKeys(source.dataDir);
  if (!lock) return { outcome: 'nothing', reason: BUSY, isFine: false };
  try {
    return await turnAndReseal(database, source, progress, patienceMs);
  } finally {
    lock.release();
  }
}

const BUSY = 'Another `posthorn secret-key rotate` is at work in this DATA_DIR. Wait for it to end.\n';

async function turnAndReseal(
  database: Database,
  source: KeySource,
  progress: RotationProgress,
  patienceMs?: number,
): Promise<RotationResult> {
  const keys = await readKeys(database, await presentSecretKeys(source));
  if (!keys) return { outcome: 'unbound' };
  if (source.secretKey === null) await settleSecretKey(source.dataDir, keys.current.text);
  const target = await targetOf(source, keys, await readFormerKeys(database));
  if ('nothing' in target) return { outcome: 'nothing', reason: target.nothing, isFine: target.isFine };
  const instances = () => readInstances(database, source.dataDir);
  if ('next' in target) {
    const { next } = target;
    progress.waiting();
    const waited = await untilAll(instances, ({ holds }) => holds.includes(next.id), patienceMs);
    // Another command may have been faster, to the same key.
    if (waited.behind > 0 || !(await turnTo(database, keys, next))) {
      const now = await readKeys(database, [next.text, keys.current.text]);
      if (now?.current.id !== next.id) {
        if (source.secretKey === null) await discardNextSecretKey(source.dataDir);
        return { outcome: 'refused', ...waited };
      }
    }
    if (source.secretKey === null) await settleSecretKey(source.dataDir, next.text);
    progress.turned();
  }
  const turned = await readKeys(database, await presentSecretKeys(source));
  return turned ? await reseal(database, turned, instances, progress, patienceMs) : { outcome: 'unbound' };
}

async function reseal(
  database: Database,
  keys: Keys,
  instances: () => ReturnType<typeof readInstances>,
  progress: RotationProgress,
  patienceMs: number | undefined,
): Promise<RotationResult> {
  // Most is done while the instances find out; what they seal meanwhile is found afterwards.
  await passOver(database, keys, progress);
  const waited = await untilAll(instances, ({ sealsWith }) => sealsWith === keys.current.id, patienceMs);
  if (waited.behind > 0) return { outcome: 'unfinished', ...waited };
  const wanted = waited.all > 0 ? 2 : 1;
  let clean = 0;
  for (let pass = 0; pass < MOST_PASSES; pass++) {
    const { left, lost } = await passOver(database, keys, progress);
    clean = left > 0 ? 0 : clean + 1;
    if (clean < wanted) {
      if (clean > 0) await pause(LOOK_AGAIN_MS);
      continue;
    }
    await database.query(FINISH);
    return { outcome: 'done', lost };
  }
  return { outcome: 'unfinished', ...waited };
}

/** Goes through every column once. Answers what it has found that could be opened. */
async function passOver(
  database: Database,
  keys: Keys,
  progress: RotationProgress,
): Promise<{ readonly left: number; readonly lost: readonly UnreadableTexts[] }> {
  let left = 0;
  const lost: UnreadableTexts[] = [];
  for (const column of SEALED_COLUMNS) {
    const pass = await resealColumn(database, keys, column, (rows) => progress.resealed(column.what, rows));
    left += pass.found - pass.lost;
    if (pass.lost > 0) lost.push({ what: column.what, rows: pass.lost });
  }
  return { left, lost };
}
