import { basename, join, resolve } from 'node:path';
import type { ReferencePack } from '../../src/web/dashboard/pack.ts';
import { hashOf, kilobytesOf, type PlainFile, packedFiles, writePack } from '../dashboard/pack-files.ts';
import { patches } from './patches.ts';

// src/web/dashboard/dist/reference.json: Scalar's API reference with our theme, every file compressed twice
// and named by its hash.

const WEB = resolve(import.meta.dir, '../../src/web/dashboard/web/reference');

/** The most kilobytes of brotli that /docs may load at once, and all together with the parts of "try it". */
const FIRST = 950;
const ALL = 1_100;

/** The sources of the reference's bundle, and its options. */
export const REFERENCE = {
  entrypoints: [join(WEB, 'main.ts')],
  target: 'browser',
  minify: true,
  splitting: true,
  define: {
    'process.env.NODE_ENV': '"production"',
    __VUE_OPTIONS_API__: 'true',
    __VUE_PROD_DEVTOOLS__: 'false',
    __VUE_PROD_HYDRATION_MISMATCH_DETAILS__: 'false',
  },
  plugins: [patches],
} satisfies Bun.BuildConfig;

/** The styles that the library brings. */
export const REFERENCE_STYLES = Bun.resolveSync('@scalar/api-reference/style.css', import.meta.dir);

/** The scripts: the first one with its imports, and those that load when a person tries a request. */
async function scripts() {
  const built = await Bun.build({
    ...REFERENCE,
    naming: { entry: 'reference-[hash].[ext]', chunk: 'reference-[hash].[ext]' },
    metafile: true,
  });
  for (const log of built.logs) console.warn(log);
  const entry = built.outputs.find(({ kind }) => kind === 'entry-point');
  if (!built.success || !entry) throw new Error('The reference could not be bundled.');
  const names = new Map(built.outputs.map((output) => [output.path, basename(output.path)]));
  const imports = (path: string, seen = new Set<string>()): Set<string> => {
    if (seen.has(path)) return seen;
    seen.add(path);
    for (const each of built.metafile?.outputs[path]?.imports ?? [])
      if (each.kind === 'import-statement') imports(each.path, seen);
    return seen;
  };
  return {
    script: basename(entry.path),
    first: [...imports(entry.path)].map((path) => names.get(path) ?? basename(path)),
    files: await Promise.all(
      built.outputs.map(async (output) => ({
        name: basename(output.path),
        code: new Uint8Array(await output.arrayBuffer()),
      })),
    ),
  };
}

/** The library's styles, and ours after them. The library brings them minified. */
async function styles(): Promise<Uint8Array> {
  const texts = await Promise.all(
    [REFERENCE_STYLES, join(WEB, 'reference.css')].map((path) => Bun.file(path).text()),
  );
  return new TextEncoder().encode(texts.join('\n'));
}

/**
 * Builds the reference; answers how many kilobytes a browser loads. @throws when it has outgrown its bounds
 */
export async function buildReference(): Promise<Readonly<Record<'first' | 'all', number>>> {
  const [{ script, first, files }, css] = await Promise.all([scripts(), styles()]);
  const name = `reference-${hashOf(css)}.css`;
  const pack: ReferencePack = {
    build: hashOf(Buffer.concat([css, ...files.map(({ code }) => code)])),
    styles: name,
    script,
    files: await packedFiles([
      [name, 'text/css; charset=utf-8', css],
      ...files.map((file): PlainFile => [file.name, 'text/javascript; charset=utf-8', file.code]),
    ]),
  };
  const sizes = {
    first: kilobytesOf(pack, [name, ...first]),
    all: kilobytesOf(pack, Object.keys(pack.files)),
  };
  if (sizes.first > FIRST || sizes.all > ALL)
    throw new Error(
      `The reference exceeds its limits: ${sizes.first.toFixed(0)} kB of ${FIRST}, ${sizes.all.toFixed(0)} of ${ALL}.`,
    );
  await writePack('reference.json', pack);
  return sizes;
}
