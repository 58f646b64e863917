import { readFileSync } from 'node:fs';
import initdb from '../../../../node_modules/@electric-sql/pglite/dist/initdb.wasm' with { type: 'file' };
import data from '../../../../node_modules/@electric-sql/pglite/dist/pglite.data' with { type: 'file' };
import wasm from '../../../../node_modules/@electric-sql/pglite/dist/pglite.wasm' with { type: 'file' };

/** The files of the embedded database. */
export interface PgliteAssets {
  readonly pgliteWasmModule: WebAssembly.Module;
  readonly initdbWasmModule: WebAssembly.Module;
  readonly fsBundle: Blob;
}

let compiling: Promise<WebAssembly.Module> | undefined;

/**
 * Begins to compile the engine, once in a process: a module keeps what was compiled of it, so that the next
 * database opens in half the time.
 */
export const compiledEngine = (): Promise<WebAssembly.Module> => (compiling ??= compiled(wasm));

/** The files that the engine mounts: its libraries and settings. */
export const fsBundle = (): Blob => Bun.file(data);

/** Loads the files of the embedded database, which the executable contains. */
export async function loadPgliteAssets(): Promise<PgliteAssets> {
  const [pgliteWasmModule, initdbWasmModule] = await Promise.all([compiledEngine(), compiled(initdb)]);
  return { pgliteWasmModule, initdbWasmModule, fsBundle: fsBundle() };
}

/**
 * Read at once: an answer that is awaited comes only after all modules have been evaluated, and other threads
 * would idle until then.
 */
const compiled = async (path: string): Promise<WebAssembly.Module> => WebAssembly.compile(readFileSync(path));
