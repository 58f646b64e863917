import { mkdirSync, renameSync } from 'node:fs';
import { basename, join, relative, resolve } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { compile } from '@tailwindcss/node';
import { Scanner } from '@tailwindcss/oxide';
import { lifecycles } from '../../machines/catalogue.ts';
import type { Pack, PackedFile } from '../../src/dashboard/pack.ts';
import type { Layouts } from '../../src/drawing/layout.ts';
import { draw } from '../../src/drawing/moves.ts';
import { layoutsOf } from './layout.ts';
import { type Chunk, type PageSize, sizesOf } from './sizes.ts';

// src/dashboard/dist/pack.json: the application as browsers get it, every file compressed twice and named by its hash.

const WEB = resolve(import.meta.dir, '../../src/dashboard/web');
const APPLICATION = join(WEB, 'application');
const DIST = resolve(import.meta.dir, '../../src/dashboard/dist');

/** The scripts of a page: the first one, and those that are loaded when something is opened. */
async function scripts(name: string, entry: string, places: Layouts): Promise<readonly [Chunk, ...Chunk[]]> {
  const built = await Bun.build({
    entrypoints: [join(WEB, entry)],
    target: 'browser',
    minify: true,
    splitting: true,
    naming: { entry: `${name}-[hash].[ext]`, chunk: `${name}-[hash].[ext]` },
    metafile: true,
    define: { 'process.env.NODE_ENV': '"production"' },
    plugins: [
      {
        name: 'layouts',
        setup(build) {
          build.onLoad({ filter: /\/web\/layouts\.ts$/ }, () => ({
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

async function styles(): Promise<Uint8Array> {
  const source = await Bun.file(join(APPLICATION, 'style.css')).text();
  const { build } = await compile(source, { base: APPLICATION, onDependency: () => {} });
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

const hashOf = (bytes: Uint8Array): string => Bun.hash(bytes).toString(36);

function packed(type: string, bytes: Uint8Array | string): PackedFile {
  const brotli = brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } });
  return { type, brotli: brotli.toString('base64'), gzip: gzipSync(bytes, { level: 9 }).toString('base64') };
}

/** Builds the dashboard; answers how many kilobytes a browser loads for each page. @throws when one has outgrown its bound */
export async function buildDashboard(): Promise<readonly PageSize[]> {
  const places = await layoutsOf(lifecycles.map(({ machine }) => draw(machine)));
  const [html, chunks, css, icon] = await Promise.all([
    Bun.file(join(APPLICATION, 'page.html')).text(),
    scripts('app', 'application/main.tsx', places),
    styles(),
    Bun.file(join(WEB, 'icon.svg')).bytes(),
  ]);
  const [first] = chunks;
  const names = { code: first.name, css: `app-${hashOf(css)}.css`, icon: `icon-${hashOf(icon)}.svg` };
  // A chunk's own hash says nothing about the chunks that it loads, so browsers keep all of them under the name of the build.
  const build = hashOf(Buffer.concat([css, ...chunks.map(({ code }) => code)]));
  const pack: Pack = {
    build,
    page: packed(
      'text/html; charset=utf-8',
      html.replace(
        /%(code|css|icon)%/g,
        (_, part: keyof typeof names) => `/app/assets/${build}/${names[part]}`,
      ),
    ),
    files: {
      [names.css]: packed('text/css; charset=utf-8', css),
      ...Object.fromEntries(
        chunks.map(({ name, code }) => [name, packed('text/javascript; charset=utf-8', code)]),
      ),
      [names.icon]: packed('image/svg+xml', icon),
    },
  };
  const sizes = sizesOf(chunks, names.css, pack);
  mkdirSync(DIST, { recursive: true });
  // The file is written aside first: two services that start together must not read half of it.
  const aside = join(DIST, `pack.${process.pid}.json`);
  await Bun.write(aside, JSON.stringify(pack));
  renameSync(aside, join(DIST, 'pack.json'));
  return sizes;
}
