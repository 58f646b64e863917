import { randomBytes } from 'node:crypto';
import {
  constants,
  type Dirent,
  existsSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statfsSync,
  statSync,
} from 'node:fs';
import { copyFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DataDirectoryInUse, type DirectoryLock, lockDirectory } from '../db/embedded/directory-lock.ts';
import type { Engine } from '../db/embedded/guarded-engine.ts';
import { UnavailableError } from '../errors/unavailable.ts';
import { snapshotFolder } from './protocol.ts';

/** Room that is left to the service when a copy is made: it continues to write meanwhile. */
const MARGIN = 134_217_728;

/**
 * A command locks its copy as soon as it has the name. A copy that is not locked after this time was left, or
 * is given up.
 */
const UNREAD_MS = 10_000;

/** Files that belong to the running process, and not to the data. */
const LEFT_OUT =
  /^(?:postmaster\.(?:pid|opts)|pg_(?:replslot|stat_tmp|notify|serial|snapshots|subtrans|dynshmem)\/.+)$/;

/**
 * Copies of an embedded database that serves, as PostgreSQL's own base backups are made: the files are copied
 * while they change, and the log that was written meanwhile brings the copy to one moment when it is opened.
 * So the service is never held up.
 */
export class Snapshots {
  readonly #stopped = new AbortController();
  #last: Promise<unknown> = Promise.resolve();
  /** When each copy was given out whose folder may still be there. */
  readonly #given = new Map<string, number>();

  constructor(
    private readonly engine: Pick<Engine, 'query' | 'holdLog'>,
    private readonly dataDir: string,
    private readonly monotonic: () => number = () => performance.now(),
  ) {}

  /**
   * Answers the name of a copy in the folder of copies, for the caller to remove. One is made at a time.
   * @throws UnavailableError without room
   */
  take(signal: AbortSignal): Promise<string> {
    const taken = this.#last.then(() => this.#copy(AbortSignal.any([signal, this.#stopped.signal])));
    this.#last = taken.catch(() => {});
    return taken;
  }

  /** Gives up what is being copied, and copies nothing more. */
  stop(): void {
    this.#stopped.abort(new UnavailableError('The service is stopping.'));
  }

  async #copy(signal: AbortSignal): Promise<string> {
    const from = join(this.dataDir, 'postgres');
    const name = randomBytes(8).toString('hex');
    const home = join(snapshotFolder(this.dataDir), name);
    const to = join(home, 'postgres');
    let release: (() => void) | undefined;
    try {
      signal.throwIfAborted();
      this.#removeLeft();
      this.#seeRoom(from);
      mkdirSync(to, { recursive: true, mode: 0o700 });
      release = this.engine.holdLog?.();
      await this.engine.query(`select pg_backup_start('posthorn', true)`);
      let label: string;
      try {
        await copyFolder(from, to, signal, (path) => !path.startsWith('pg_wal/') && !LEFT_OUT.test(path));
      } finally {
        // Also after a failure: else the database would keep what a backup needs for ever.
        const { rows } = await this.engine.query<{ labelfile: string }>(
          'select labelfile from pg_backup_stop(false)',
        );
        label = rows[0]?.labelfile ?? '';
      }
      await copyFolder(join(from, 'pg_wal'), join(to, 'pg_wal'), signal, () => true);
      signal.throwIfAborted();
      await writeFile(join(to, 'backup_label'), label, { mode: 0o600 });
      this.#given.set(name, this.monotonic());
      return name;
    } catch (error) {
      rmSync(home, { recursive: true, force: true });
      throw (error as NodeJS.ErrnoException).code === 'ENOSPC' ? this.#noRoom(0) : error;
    } finally {
      release?.();
    }
  }

  /**
   * Removes the copies of commands that were killed since the service began; the copies from before its start
   * are already gone.
   */
  #removeLeft(): void {
    for (const [name, at] of this.#given) {
      const copy = join(snapshotFolder(this.dataDir), name);
      if (existsSync(copy) && (this.monotonic() - at < UNREAD_MS || !removeUnlessRead(copy))) continue;
      this.#given.delete(name);
    }
  }

  /** A copy that filled the disk would stop the service. */
  #seeRoom(from: string): void {
    let bytes = MARGIN;
    for (const path of contentsOf(from).files)
      bytes += statSync(join(from, path), { throwIfNoEntry: false })?.size ?? 0;
    const { bavail, bsize } = statfsSync(this.dataDir);
    if (bavail * bsize < bytes) throw this.#noRoom(bytes);
  }

  #noRoom(bytes: number): UnavailableError {
    const needed = bytes > 0 ? ` It takes ${Math.ceil(bytes / 1_048_576)} MiB for a moment.` : '';
    return new UnavailableError(
      `The disk of ${this.dataDir} has no room for a copy of the database, which commands read while the service runs.${needed} Make room, or stop the service first.`,
    );
  }
}

/**
 * Removes the copies that commands have left which were killed. One that is read by now is locked, and stays:
 * its rows would end early.
 */
export function removeLeftCopies(dataDir: string): void {
  const folder = snapshotFolder(dataDir);
  if (!existsSync(folder)) return;
  const isRead = readdirSync(folder).map((name) => !removeUnlessRead(join(folder, name)));
  if (!isRead.includes(true)) rmSync(folder, { recursive: true, force: true });
}

function removeUnlessRead(copy: string): boolean {
  let lock: DirectoryLock | null = null;
  try {
    lock = lockDirectory(copy);
  } catch (error) {
    if (error instanceof DataDirectoryInUse) return false;
    // A copy that cannot be locked is of no use to a command.
  }
  rmSync(copy, { recursive: true, force: true });
  lock?.release();
  return true;
}

/**
 * Copies the wanted files of a folder, all at once: the service keeps its thread busy, and a copy that came
 * back to it after each of a thousand files took a minute under load.
 */
async function copyFolder(
  from: string,
  to: string,
  signal: AbortSignal,
  wanted: (path: string) => boolean,
): Promise<void> {
  const { folders, files } = contentsOf(from);
  // Empty folders belong to a database as well.
  for (const folder of folders) mkdirSync(join(to, folder), { recursive: true, mode: 0o700 });
  signal.throwIfAborted();
  await Promise.all(files.filter(wanted).map((path) => copyIfThere(join(from, path), join(to, path))));
}

async function copyIfThere(from: string, to: string): Promise<void> {
  try {
    // On a file system that shares blocks between files, a copy costs neither time nor room.
    await copyFile(from, to, constants.COPYFILE_FICLONE);
  } catch (error) {
    // A table that was dropped meanwhile: the log says so too.
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}

/** The files and folders below a folder, named from there. */
function contentsOf(folder: string): {
  readonly folders: readonly string[];
  readonly files: readonly string[];
} {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  const name = (entry: Dirent): string => join(entry.parentPath, entry.name).slice(folder.length + 1);
  return {
    folders: entries.filter((entry) => entry.isDirectory()).map(name),
    files: entries.filter((entry) => entry.isFile()).map(name),
  };
}
