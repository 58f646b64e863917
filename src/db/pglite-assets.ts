import initdb from '../../node_modules/@electric-sql/pglite/dist/initdb.wasm' with { type: 'file' };
import data from '../../node_modules/@electric-sql/pglite/dist/pglite.data' with { type: 'file' };
import wasm from '../../node_modules/@electric-sql/pglite/dist/pglite.wasm' with { type: 'file' };

/** Loads the files of the embedded database, which the executable contains. */
export async function loadPgliteAssets(): Promise<{
  pgliteWasmModule: WebAssembly.Module;
  initdbWasmModule: WebAssembly.Module;
  fsBundle: Blob;
}> {
  const [pgliteWasmModule, initdbWasmModule] = await Promise.all([
    Bun.file(wasm)
      .arrayBuffer()
      .then((bytes) => WebAssembly.compile(bytes)),
    Bun.file(initdb)
      .arrayBuffer()
      .then((bytes) => WebAssembly.compile(bytes)),
  ]);
  return { pgliteWasmModule, initdbWasmModule, fsBundle: Bun.file(data) };
}
