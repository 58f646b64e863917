import { dlopen, FFIType } from 'bun:ffi';
import { closeSync, fsyncSync, openSync } from 'node:fs';
import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import { NodeFS } from '@electric-sql/pglite/nodefs';
import { compiledEngine } from './pglite-assets.ts';
import { giveBackZeros } from './zero-pages.ts';

/** A file or a directory, as Emscripten knows it. */
interface FileNode {
  readonly mode: number;
}

interface FileStream {
  readonly nfd: number;
  readonly node: FileNode;
}

/** The parts of an Emscripten module that are changed or called. */
interface FileOperations {
  readonly FS: {
    lookupNode(parent: FileNode, name: string): FileNode;
    /** Removes a node from the table of names; the file stays. */
    destroyNode(node: FileNode): void;
    /** An error that PostgreSQL gets as the number of its cause, in place of what a call answers. */
    readonly ErrnoError: new (
      cause: number,
    ) => Error;
  };
  readonly NODEFS: {
    readonly stream_ops: {
      fsync?: (stream: FileStream) => number;
      write(stream: FileStream, ...rest: readonly unknown[]): number;
    };
    readonly node_ops: {
      setattr(node: FileNode, ...rest: readonly unknown[]): void;
      mknod(parent: FileNode, name: string, ...rest: readonly unknown[]): FileNode;
    };
  };
}

/** Takes the engine that was made of its module. */
type InstantiationCallback = (instance: WebAssembly.Instance, module: WebAssembly.Module) => void;

/** From the start of the engine until its zeros are given back, so that no first request waits for that. */
const SETTLED_MS = 1_000;
/**
 * The numbers of causes for which a file may not reach the disk, as WASI counts them. PostgreSQL asks again
 * after some, and passes over others for a directory.
 */
const CAUSES: Readonly<Record<string, number>> & { readonly EIO: number } = {
  EBADF: 8,
  EDQUOT: 19,
  EINTR: 27,
  EINVAL: 28,
  EIO: 29,
  ENOSPC: 51,
  EROFS: 69,
};
const KIND = 0o170000;
const DIRECTORY = 0o040000;

/**
 * The files of an embedded database, with an `fsync` that reaches the disk. PGlite's own does nothing: a
 * killed process loses nothing by that, but a power cut could lose what was answered with 202. It costs 45 %
 * of the single inserts a second (7,183 → 3,958) and 43 % of the batched ones (145,000 → 82,000), measured on
 * ext4.
 *
 * After a crash PostgreSQL first syncs every file that there is, since what the dead process had written may
 * be nowhere but in memory. One by one that is more than a thousand flushes of the disk. So until the engine
 * has started, one `syncfs` does it for all the files that this process has not changed, as PostgreSQL's own
 * `recovery_init_sync_method` would where it was built with that.
 */
export class SyncedFiles extends NodeFS {
  /** Files that were changed since the start; null once the engine has started. */
  #changed: WeakSet<FileNode> | null = new WeakSet();
  #areSynced: boolean | undefined;
  #memory: WebAssembly.Memory | undefined;
  readonly #failing = Promise.withResolvers<never>();
  #unsynced: unknown;

  /** @param sync, syncAll for tests, which cannot pull the plug */
  constructor(
    readonly directory: string,
    private readonly sync: (descriptor: number) => void = fsyncSync,
    private readonly syncAll: (directory: string) => boolean = syncFileSystem,
  ) {
    super(directory);
    // Callers that wait for it get the error.
    this.#failing.promise.catch(() => {});
  }

  /** Rejects when the engine could not be made: PGlite itself would wait for it for ever. */
  get failed(): Promise<never> {
    return this.#failing.promise;
  }

  /** The latest error of a file that did not reach the disk. */
  get unsynced(): unknown {
    return this.#unsynced;
  }

  /** The engine has started: from here on each file is synced separately. */
  started(): void {
    this.#changed = null;
    setTimeout(() => this.giveBackZeros(), SETTLED_MS).unref();
  }

  /** Gives back what the engine has filled with zeros and not used; answers its octets. */
  giveBackZeros(): number {
    return this.#memory ? giveBackZeros(this.#memory.buffer) : 0;
  }

  override async init(...[engine, options]: Parameters<NodeFS['init']>): ReturnType<NodeFS['init']> {
    const ready = await super.init(engine, options);
    const { preRun = [] } = ready.emscriptenOpts;
    const replaceSync = (module: unknown): void => this.#replaceSync(module as FileOperations);
    return {
      emscriptenOpts: {
        ...ready.emscriptenOpts,
        preRun: [...[preRun].flat(), replaceSync],
        instantiateWasm: (imports: Bun.WebAssembly.Imports, done: InstantiationCallback) => {
          this.#instantiate(imports, done).catch(this.#failing.reject);
          return {};
        },
      },
    };
  }

  /**
   * Waits for the compiled engine only here, so that its memory, its files and the program around it are made
   * while it is compiled: 20 ms.
   */
  async #instantiate(imports: Bun.WebAssembly.Imports, done: InstantiationCallback): Promise<void> {
    const module = await compiledEngine();
    const { memory } = imports.env ?? {};
    if (memory instanceof WebAssembly.Memory) this.#memory = memory;
    done(await WebAssembly.instantiate(module, imports), module);
  }

  #replaceSync({ FS, NODEFS: { stream_ops, node_ops } }: FileOperations): void {
    const { write } = stream_ops;
    const { setattr, mknod } = node_ops;
    stream_ops.write = (stream, ...rest) => {
      this.#changed?.add(stream.node);
      return write(stream, ...rest);
    };
    node_ops.setattr = (node, ...rest) => {
      this.#changed?.add(node);
      setattr(node, ...rest);
    };
    node_ops.mknod = (parent, name, ...rest) => {
      try {
        const made = mknod(parent, name, ...rest);
        this.#changed?.add(made);
        return made;
      } catch (error) {
        // Emscripten names a file before it makes it, and keeps the name of one that could not be made, for
        // want of a descriptor or of room: PostgreSQL would be told until the next start that it exists.
        try {
          FS.destroyNode(FS.lookupNode(parent, name));
        } catch {}
        throw error;
      }
    };
    stream_ops.fsync = ({ nfd, node }) => {
      try {
        if (!this.#isSynced(node)) this.sync(nfd);
        return 0;
      } catch (error) {
        // PostgreSQL stops at it, as a server does: what it has written may not be on the disk.
        this.#unsynced = error;
        throw new FS.ErrnoError(CAUSES[(error as NodeJS.ErrnoException).code ?? ''] ?? CAUSES.EIO);
      }
    };
  }

  /** True of a file that is as the process before has left it, all of whose writes have reached the disk. */
  #isSynced(node: FileNode): boolean {
    if (!this.#changed || this.#changed.has(node) || (node.mode & KIND) === DIRECTORY) return false;
    this.#areSynced ??= this.syncAll(this.directory);
    return this.#areSynced;
  }
}

/**
 * Makes everything in the file system of a directory durable; false where that cannot be asked for, or fails.
 */
function syncFileSystem(directory: string): boolean {
  if (process.platform !== 'linux') return false;
  try {
    const { symbols } = dlopen('libc.so.6', { syncfs: { args: [FFIType.i32], returns: FFIType.i32 } });
    const descriptor = openSync(directory, 'r');
    const isDone = symbols.syncfs(descriptor) === 0;
    closeSync(descriptor);
    return isDone;
  } catch {
    // A C library of another name.
    return false;
  }
}

/**
 * The start parameters of an embedded PostgreSQL. Its shared memory is filled with zeros before it starts and
 * stays resident: 128 MB by default, which took 60 ms of processor time and a third of an idle service. The
 * kernel's cache of files backs the smaller one.
 */
export const SMALL_START: readonly string[] = [
  ...PGlite.defaultStartParams,
  '-c',
  'shared_buffers=32MB',
  '-c',
  'max_connections=8',
  '-c',
  'wal_buffers=1MB',
];

/**
 * The start parameters of PostgreSQL on synced files: fsync is on, which PGlite turns off by `-F`, and is the
 * method, since Emscripten answers `fdatasync` without doing anything.
 */
export const SYNCED_START: readonly string[] = [
  ...SMALL_START.filter((parameter) => parameter !== '-F'),
  '-c',
  'fsync=on',
  '-c',
  'wal_sync_method=fsync',
];

/**
 * Files that are open at once: a new database has a thousand, and some machines let a process open as many in
 * all.
 */
const OPEN_AT_ONCE = 32;

/** Makes everything in a folder durable, the folder itself included; it takes 0.15 s for a new database. */
export async function syncFolder(folder: string): Promise<void> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = [folder, ...entries.map((entry) => join(entry.parentPath, entry.name))].values();
  const syncThem = async (): Promise<void> => {
    for (const path of paths) await syncEntry(path);
  };
  await Promise.all(Array.from({ length: OPEN_AT_ONCE }, syncThem));
}

/** Makes a file durable, or the names of a folder's files. */
export async function syncEntry(path: string): Promise<void> {
  const file = await open(path, 'r');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}
