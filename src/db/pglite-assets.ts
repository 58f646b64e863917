import { readFileSync } from 'node:fs';
import initdb from '../../node_modules/@electric-sql/pglite/dist/initdb.wasm' with { type: 'file' };
import data from '../../node_modules/@electric-sql/pglite/dist/pglite.data' with { type: 'file' };
import wasm from '../../node_modules/@electric-sql/pglite/dist/pglite.wasm' with { type: 'file' };

/** The files of the embedded database. */
export interface PgliteAssets {
  readonly pgliteWasmModule: WebAssembly.Module;
  readonly initdbWasmModule: WebAssembly.Module;
  readonly fsBundle: Blob;
}

let loading: Promise<PgliteAssets> | undefined;

/**
 * Loads the files of the embedded database, which the executable contains. Once in a process: a module keeps what was compiled of it, so
 * that the next database opens in half the time.
 */
export function loadPgliteAssets(): Promise<PgliteAssets> {
  loading ??= load();
  return loading;
}

async function load(): Promise<PgliteAssets> {
  const [pgliteWasmModule, initdbWasmModule] = await Promise.all([compiled(wasm), compiled(initdb)]);
  return { pgliteWasmModule, initdbWasmModule, fsBundle: Bun.file(data) };
}

/** Read at once: an answer that is awaited comes only after all modules have been evaluated, and other threads would idle until then. */
const compiled = async (path: string): Promise<WebAssembly.Module> => WebAssembly.compile(readFileSync(path));
