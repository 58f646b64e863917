import { mkdirSync, renameSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { compile } from '@tailwindcss/node';
import { Scanner } from '@tailwindcss/oxide';
import { lifecycles } from '../../machines/catalogue.ts';
import type { Pack, PackedFile } from '../../src/dashboard/pack.ts';
import type { Layouts } from '../../src/drawing/layout.ts';
import { draw } from '../../src/drawing/moves.ts';
import { layoutsOf } from './layout.ts';

// src/dashboard/dist/pack.json: the application and the live view as browsers get them, every file compressed twice and named by its hash.

const WEB = resolve(import.meta.dir, '../../src/dashboard/web');
const APPLICATION = join(WEB, 'application');
const DIST = resolve(import.meta.dir, '../../src/dashboard/dist');

async function script(entry: string, places: Layouts): Promise<Uint8Array> {
  const built = await Bun.build({
    entrypoints: [join(WEB, entry)],
    target: 'browser',
    minify: true,
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
  const [output] = built.outputs;
  if (!built.success || !output) throw new Error('The script could not be bundled.');
  return new Uint8Array(await output.arrayBuffer());
}

async function styles(folder: string): Promise<Uint8Array> {
  const source = await Bun.file(join(folder, 'style.css')).text();
  const { build } = await compile(source, { base: folder, onDependency: () => {} });
  const sources = [
    { base: folder, pattern: '*.tsx', negated: false },
    { base: WEB, pattern: 'icons.tsx', negated: false },
  ];
  const candidates = new Scanner({ sources }).scan();
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

/** One page with its script and its styles, under names that hold their hashes. */
async function packedPage(
  name: string,
  folder: string,
  [code, css]: readonly [Uint8Array, Uint8Array],
  icon: string,
): Promise<{ readonly page: PackedFile; readonly files: Pack['files'] }> {
  const names = { code: `${name}-${hashOf(code)}.js`, css: `${name}-${hashOf(css)}.css`, icon };
  const page = (await Bun.file(join(folder, 'page.html')).text()).replace(
    /%(code|css|icon)%/g,
    (_, part: keyof typeof names) => `/inspector/assets/${names[part]}`,
  );
  return {
    page: packed('text/html; charset=utf-8', page),
    files: {
      [names.code]: packed('text/javascript; charset=utf-8', code),
      [names.css]: packed('text/css; charset=utf-8', css),
    },
  };
}

const sizeOf = (files: readonly PackedFile[]): number =>
  files.reduce((sum, { brotli }) => sum + Buffer.from(brotli, 'base64').length, 0) / 1_000;

/** Builds the dashboard; answers how many kilobytes a browser loads for each page. */
export async function buildDashboard(): Promise<Readonly<Record<keyof Pack['pages'], number>>> {
  const [viewCode, viewCss, code, css, icon] = await Promise.all([
    layoutsOf(lifecycles.map(({ machine }) => draw(machine))).then((places) => script('main.tsx', places)),
    styles(WEB),
    script('application/main.tsx', {}),
    styles(APPLICATION),
    Bun.file(join(WEB, 'icon.svg')).bytes(),
  ]);
  const iconName = `icon-${hashOf(icon)}.svg`;
  const [liveView, application] = await Promise.all([
    packedPage('view', WEB, [viewCode, viewCss], iconName),
    packedPage('app', APPLICATION, [code, css], iconName),
  ]);
  const pack: Pack = {
    pages: { application: application.page, liveView: liveView.page },
    files: { ...liveView.files, ...application.files, [iconName]: packed('image/svg+xml', icon) },
  };
  mkdirSync(DIST, { recursive: true });
  // The file is written aside first: two services that start together must not read half of it.
  const aside = join(DIST, `pack.${process.pid}.json`);
  await Bun.write(aside, JSON.stringify(pack));
  renameSync(aside, join(DIST, 'pack.json'));
  return {
    application: sizeOf([application.page, ...Object.values(application.files)]),
    liveView: sizeOf([liveView.page, ...Object.values(liveView.files)]),
  };
}
