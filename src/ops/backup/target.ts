import { existsSync, mkdirSync, renameSync, rmSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import { type BulkSession, openBulkSession } from '../../platform/db/bulk-session.ts';
import { asUnusable, ensureWritable, RESTORING } from '../../platform/db/embedded/data-directory.ts';
import { lockDirectory } from '../../platform/db/embedded/directory-lock.ts';
import { syncEntry, syncFolder } from '../../platform/db/embedded/synced-files.ts';
import type { DatabaseLocation } from '../../platform/db/open.ts';
import { BackupRefused, TargetNotEmpty } from './refused.ts';

/** A database that a backup is loaded into. */
export interface Target {
  /** The place where it can be inspected once it is loaded, and before it is in use. */
  readonly where: DatabaseLocation;
  /** True for a database that was made for this. */
  readonly isOurs: boolean;
  /** Loads it, all or nothing. */
  fill<T>(work: (session: BulkSession) => Promise<T>): Promise<T>;
  /** Called again and again while it is loaded. @throws BackupRefused when the disk is about to be full */
  seeRoom(): void;
  /** Puts what was loaded and looked at into use. */
  use(): Promise<void>;
  /** Closes it; a database that is not in use by then is removed. */
  close(): void;
}

/**
 * Opens the database that a backup goes into. @throws BackupRefused, DataDirectoryInUse,
 * DataDirectoryUnusable
 */
export function openTarget({
  databaseUrl,
  dataDir,
}: {
  databaseUrl: string | null;
  dataDir: string;
}): Target {
  return databaseUrl === null ? embeddedTarget(dataDir) : serverTarget(databaseUrl);
}

/** One transaction holds everything, so there is nothing to undo when it ends early. */
const serverTarget = (url: string): Target => ({
  where: { url, dataDir: null },
  isOurs: false,
  fill: (work) => inSession({ url, dataDir: null }, work),
  // A server reports it itself.
  seeRoom() {},
  async use() {},
  close() {},
});

/**
 * Room that the embedded database keeps: on a disk without any it writes the same page again for ever (seen
 * on a tmpfs of 48 MiB).
 */
const MARGIN = 134_217_728;

/**
 * A folder beside the database's own, which becomes that one in the end. A restore that was killed leaves it,
 * and as long as it is there no service starts in the data directory.
 */
function embeddedTarget(dataDir: string): Target {
  ensureWritable(dataDir);
  const lock = lockDirectory(dataDir);
  const directory = join(dataDir, 'postgres');
  const aside = join(dataDir, RESTORING);
  const seeRoom = (): void => {
    const { bavail, bsize } = statfsSync(dataDir);
    if (bavail * bsize < MARGIN)
      throw new BackupRefused(
        `There is no room left on the disk of ${dataDir}: a restore keeps ${MARGIN / 1_048_576} MiB of it free. Make room, or choose another DATA_DIR.`,
      );
  };
  try {
    seeRoom();
    if (existsSync(directory))
      throw new TargetNotEmpty(
        `There is a database in ${dataDir} already. A backup is restored into an empty folder: choose another DATA_DIR, or move ${directory} away.`,
      );
    rmSync(aside, { recursive: true, force: true });
    mkdirSync(aside, { mode: 0o700 });
  } catch (error) {
    lock.release();
    throw error;
  }
  const where = { url: null, dataDir: aside, isTemporary: true };
  return {
    where,
    isOurs: true,
    seeRoom,
    async fill(work) {
      try {
        return await inSession(where, work);
      } catch (error) {
        throw asUnusable(join(aside, 'postgres'), error);
      }
    },
    async use() {
      await syncFolder(join(aside, 'postgres'));
      renameSync(join(aside, 'postgres'), directory);
      await syncEntry(dataDir);
    },
    close() {
      rmSync(aside, { recursive: true, force: true });
      lock.release();
    },
  };
}

async function inSession<T>(where: DatabaseLocation, work: (session: BulkSession) => Promise<T>): Promise<T> {
  const session = await openBulkSession(where, 'write');
  try {
    return await work(session);
  } finally {
    await session.close();
  }
}
