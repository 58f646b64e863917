import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type KeySource, resolveSecretKeys } from '../../platform/config/secret-key.ts';
import { openOrCopy } from '../../platform/control/client.ts';
import { type BulkSession, openBulkSession } from '../../platform/db/bulk-session.ts';
import { isBound, readKeys } from '../../platform/db/canary.ts';
import type { Statements } from '../../platform/db/database.ts';
import { BackupRefused } from './refused.ts';

/** The settings that say where data and key are. */
export interface Place extends KeySource {
  readonly databaseUrl: string | null;
}

/** A database that is read as it is at one moment, and the key of its secrets. */
export interface Source {
  readonly session: BulkSession;
  readonly secretKey: string | null;
  close(): Promise<void>;
}

/**
 * Opens the configured database to read all of it; of an embedded one that serves, a copy. @throws
 * BackupRefused where there is none, DataDirectoryInUse when a copy is impossible, WrongSecretKey,
 * NoSecretKey
 */
export async function openSource(place: Place): Promise<Source> {
  const { databaseUrl: url, dataDir } = place;
  seeThatThereIsOne(place);
  return sourceOf(place, await openOrCopy({ url, dataDir }, (where) => openBulkSession(where, 'read')));
}

/**
 * Opens the configured database for good: no other process may use an embedded one until it is closed.
 * @throws as `openSource` does
 */
export async function openSourceAlone(place: Place): Promise<Source> {
  const { databaseUrl: url, dataDir } = place;
  seeThatThereIsOne(place);
  return sourceOf(place, { database: await openBulkSession({ url, dataDir }, 'read'), remove() {} });
}

function seeThatThereIsOne({ databaseUrl, dataDir }: Place): void {
  if (databaseUrl === null && !existsSync(join(dataDir, 'postgres')))
    throw new BackupRefused(`There is no database in ${dataDir}.`);
}

async function sourceOf(
  place: Place,
  { database: session, remove }: { readonly database: BulkSession; remove(): void },
): Promise<Source> {
  const close = () => session.close().finally(remove);
  try {
    return { session, secretKey: await readKey(session, place), close };
  } catch (error) {
    await close();
    throw error;
  }
}

/**
 * The key that the database is used with: with another one its secrets could never be opened. Null when it
 * was used with none.
 */
async function readKey(session: Pick<Statements, 'query'>, place: Place): Promise<string | null> {
  if (!(await isBound(session))) return null;
  const keys = await readKeys(session, await resolveSecretKeys(place, async () => true));
  return keys?.current.text ?? null;
}
