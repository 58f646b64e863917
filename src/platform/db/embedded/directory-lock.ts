import { dlopen, FFIType, read } from 'bun:ffi';
import { Database as Sqlite } from 'bun:sqlite';
import { closeSync, constants, openSync } from 'node:fs';
import { join } from 'node:path';
import { DataDirectoryUnusable } from './data-directory.ts';

/** Another process already works in the data directory. */
export class DataDirectoryInUse extends Error {
  override readonly name = 'DataDirectoryInUse';

  constructor(readonly dataDir: string) {
    super(
      `Another Posthorn already uses the data directory ${dataDir}. ` +
        'Stop it, choose another DATA_DIR, or set DATABASE_URL to share one PostgreSQL between several.',
    );
  }
}

/** A lock that is held until it is released, or its process is gone. */
export interface DirectoryLock {
  release(): void;
}

/**
 * Takes the data directory for this process alone, since two processes on one embedded database corrupt it.
 * It takes two locks of the operating system, both of which hold across containers: a transaction of SQLite
 * in the file `lock`, which every platform has, and `flock` on the directory itself where there is one, since
 * no process can replace the directory beside the database.
 * @throws DataDirectoryInUse, DataDirectoryUnusable
 */
export function lockDirectory(dataDir: string): DirectoryLock {
  const file = lockFile(join(dataDir, 'lock'), 0);
  if (!file) throw new DataDirectoryInUse(dataDir);
  try {
    const directory = lockInode(dataDir);
    return {
      release() {
        if (directory !== null) closeSync(directory);
        file.close();
      },
    };
  } catch (error) {
    file.close();
    throw error;
  }
}

/**
 * The lock of the operating system on a file that is made for it, after at most this wait (which blocks this
 * process); null while another has it. It ends with its process, in every case. @throws DataDirectoryUnusable
 */
export function lockFile(path: string, waitMs: number): Sqlite | null {
  let lock: Sqlite | undefined;
  try {
    lock = new Sqlite(path, { create: true });
    lock.exec(`pragma busy_timeout = ${waitMs}; pragma locking_mode = exclusive; begin exclusive`);
    return lock;
  } catch (error) {
    lock?.close();
    const { code } = error as { code?: string };
    if (code === 'SQLITE_BUSY') return null;
    throw new DataDirectoryUnusable(path, error);
  }
}

const LOCK_EXCLUSIVELY = 2;
const AT_ONCE = 4;

/** The descriptor that holds the lock; null where the platform or its file system has no `flock`. */
function lockInode(dataDir: string): number | null {
  const system = SYSTEMS[process.platform]?.();
  if (!system) return null;
  const descriptor = openSync(dataDir, constants.O_RDONLY);
  if (system.flock(descriptor, LOCK_EXCLUSIVELY | AT_ONCE) === 0) return descriptor;
  const isHeld = system.lastError() === system.wouldBlock;
  closeSync(descriptor);
  if (isHeld) throw new DataDirectoryInUse(dataDir);
  return null;
}

/** `flock` of a C library, and its error while another process holds the lock. */
interface System {
  flock(descriptor: number, operation: number): number;
  lastError(): number;
  readonly wouldBlock: number;
}

const FLOCK = { args: [FFIType.i32, FFIType.i32], returns: FFIType.i32 } as const;
const ERRNO = { args: [], returns: FFIType.ptr } as const;

const SYSTEMS: Partial<Record<NodeJS.Platform, () => System | null>> = {
  linux: () =>
    attempt(() => {
      const { symbols } = dlopen('libc.so.6', { flock: FLOCK, __errno_location: ERRNO });
      return systemOf(symbols.flock, symbols.__errno_location, 11);
    }),
  darwin: () =>
    attempt(() => {
      const { symbols } = dlopen('libSystem.B.dylib', { flock: FLOCK, __error: ERRNO });
      return systemOf(symbols.flock, symbols.__error, 35);
    }),
};

const systemOf = (flock: System['flock'], errno: () => unknown, wouldBlock: number): System => ({
  flock,
  lastError: () => read.i32(errno() as Parameters<typeof read.i32>[0], 0),
  wouldBlock,
});

/** A C library of another name has no say: the file's lock remains. */
const attempt = (open: () => System): System | null => {
  try {
    return open();
  } catch {
    return null;
  }
};
