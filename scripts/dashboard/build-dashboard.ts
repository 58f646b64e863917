import { basename, join, relative, resolve } from 'node:path';
import { compile } from '@tailwindcss/node';
import { Scanner } from '@tailwindcss/oxide';
import { lifecycles } from '../../machines/catalogue.ts';
import type { Layouts } from '../../src/engine/drawing/layout.ts';
import { draw } from '../../src/engine/drawing/moves.ts';
import type { Pack } from '../../src/web/dashboard/pack.ts';
import { layoutsOf } from './layout.ts';
import { hashOf, type PlainFile, packed, packedFiles, writePack } from './pack-files.ts';
import { type Chunk, type PageSize, sizesOf, withImports } from './sizes.ts';

// src/web/dashboard/dist/pack.json: the application as browsers get it, every file compressed twice and named
// by its hash.

const WEB = resolve(import.meta.dir, '../../src/web/dashboard/web');
const FOLDER = join(WEB, 'application');

/** The sources of the application's bundle, and its options. */
export const APPLICATION = {
  entrypoints: [join(WEB, 'application/main.tsx')],
  target: 'browser',
  minify: true,
  splitting: true,
  define: { 'process.env.NODE_ENV': '"production"' },
} satisfies Bun.BuildConfig;

/** The scripts of a page: the first one, and those that are loaded when something is opened. */
async function scripts(name: string, places: Layouts): Promise<readonly [Chunk, ...Chunk[]]> {
  const built = await Bun.build({
    ...APPLICATION,
    naming: { entry: `${name}-[hash].[ext]`, chunk: `${name}-[hash].[ext]` },
    metafile: true,
    plugins: [
      {
        name: 'layouts',
        setup(build) {
          build.onLoad({ filter: /\/machine\/layouts\.ts$/ }, () => ({
            contents: `export const layouts = ${JSON.stringify(places)};`,
            loader: 'ts',
          }));
        },
      },
    ],
  });
  for (const log of built.logs) console.warn(log);
  const all = await Promise.all(
    built.outputs.map(async (output): Promise<Chunk & { readonly kind: string }> => {
      const { imports = [], entryPoint } = built.metafile?.outputs[output.path] ?? {};
      return {
        name: basename(output.path),
        code: new Uint8Array(await output.arrayBuffer()),
        opens: entryPoint === undefined ? null : relative(WEB, resolve(entryPoint)),
        imports: imports.filter(({ kind }) => kind === 'import-statement').map(({ path }) => basename(path)),
        kind: output.kind,
      };
    }),
  );
  const first = all.find(({ kind }) => kind === 'entry-point');
  if (!built.success || !first) throw new Error('The scripts could not be bundled.');
  return [first, ...all.filter((each) => each !== first)];
}

async function compiled(onDependency: (path: string) => void) {
  const source = await Bun.file(join(FOLDER, 'style.css')).text();
  return await compile(source, { base: FOLDER, onDependency });
}

/** The stylesheets that go into that of the application. */
export async function stylesheets(): Promise<readonly string[]> {
  const paths: string[] = [];
  await compiled((path) => void paths.push(path));
  return paths;
}

async function styles(): Promise<Uint8Array> {
  const { build } = await compiled(() => {});
  const candidates = new Scanner({
    sources: [{ base: WEB, pattern: '**/*.{ts,tsx}', negated: false }],
  }).scan();
  const minifier = await Bun.build({
    entrypoints: ['style.css'],
    files: { 'style.css': build(candidates) },
    minify: true,
  });
  const [output] = minifier.outputs;
  if (!output) throw new Error('The styles could not be bundled.');
  return new Uint8Array(await output.arrayBuffer());
}

/**
 * Builds the dashboard; answers how many kilobytes a browser loads for each page. @throws when one has
 * outgrown its bound
 */
export async function buildDashboard(): Promise<readonly PageSize[]> {
  const places = await layoutsOf(lifecycles.map(({ machine }) => draw(machine)));
  const [html, chunks, css, icon] = await Promise.all([
    Bun.file(join(FOLDER, 'page.html')).text(),
    scripts('app', places),
    styles(),
    Bun.file(join(WEB, 'icon.svg')).bytes(),
  ]);
  const [first] = chunks;
  const names = { code: first.name, css: `app-${hashOf(css)}.css`, icon: `icon-${hashOf(icon)}.svg` };
  // A chunk's own hash says nothing about the chunks that it loads, so browsers keep all of them under the
  // name of the build.
  const build = hashOf(Buffer.concat([css, ...chunks.map(({ code }) => code)]));
  const addressOf = (name: string): string => `/app/assets/${build}/${name}`;
  // The imports of the first script load beside it, not only once it has been read.
  const modules = [...withImports(chunks, [first.name])]
    .filter((name) => name !== first.name)
    .map((name) => `<link rel="modulepreload" href="${addressOf(name)}">`);
  const pack: Pack = {
    build,
    page: await packed(
      'text/html; charset=utf-8',
      html
        .replace(/%(code|css|icon)%/g, (_, part: keyof typeof names) => addressOf(names[part]))
        .replace('%modules%', modules.join('\n    ')),
    ),
    files: await packedFiles([
      [names.css, 'text/css; charset=utf-8', css],
      ...chunks.map(({ name, code }): PlainFile => [name, 'text/javascript; charset=utf-8', code]),
      [names.icon, 'image/svg+xml', icon],
    ]),
  };
  const sizes = sizesOf(chunks, names.css, pack);
  await writePack('pack.json', pack);
  return sizes;
}
