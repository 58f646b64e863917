import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync } from 'node:zlib';
import service from '../../package.json' with { type: 'json' };

/** A page that loads the client as it is published, names and all, pays no more than this. */
const MOST_BYTES = 10_000;

const SOURCE = 'src/web/client';

/** Writes the package into a folder, and says what its code weighs. @throws Error where it does not build */
export async function packClient(folder: string): Promise<{ readonly bytes: number; readonly most: number }> {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const built = await Bun.build({
    entrypoints: [join(SOURCE, 'posthorn.ts')],
    target: 'browser',
    format: 'esm',
    // Names and lines stay readable for people who step into the client in a debugger.
    minify: false,
  });
  const code = (await built.outputs[0]?.text()) ?? '';
  // The bundler names the source of each part; the paths mean nothing in the package.
  writeFileSync(join(folder, 'posthorn.js'), code.replace(/^\/\/ src\/client\/.*\n/gm, ''));
  declareTypes(folder);
  for (const [from, to] of [
    [`${SOURCE}/README.md`, 'README.md'],
    ['LICENSE', 'LICENSE'],
  ] as const)
    copyFileSync(from, join(folder, to));
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest(), null, 2)}\n`);
  return { bytes: brotliCompressSync(readFileSync(join(folder, 'posthorn.js'))).length, most: MOST_BYTES };
}

/** One declaration a source file, each import with the ending that it has there. */
function declareTypes(folder: string): void {
  const flags = ['--noEmit', 'false', '--declaration', '--emitDeclarationOnly', '--stripInternal'];
  const tsc = spawnSync('node_modules/.bin/tsc', ['-p', SOURCE, ...flags, '--outDir', folder], {
    encoding: 'utf8',
  });
  if (tsc.status !== 0) throw new Error(tsc.stdout + tsc.stderr);
  for (const name of readdirSync(folder).filter((each) => each.endsWith('.d.ts'))) {
    const path = join(folder, name);
    writeFileSync(
      path,
      readFileSync(path, 'utf8').replace(/(from '\.\/[\w-]+|import\("\.\/[\w-]+)\.ts(['"])/g, '$1.js$2'),
    );
  }
}

const manifest = () => ({
  name: 'posthorn-client',
  version: service.version,
  description: 'The TypeScript client of Posthorn, the email service that you run yourself.',
  license: service.license,
  type: 'module',
  exports: { '.': { types: './posthorn.d.ts', default: './posthorn.js' } },
  types: './posthorn.d.ts',
  sideEffects: false,
  engines: { node: '>=20' },
});
