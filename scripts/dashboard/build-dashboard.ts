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

// src/dashboard/dist/pack.json: the live view as browsers get it, every file compressed twice and named by its hash.

const WEB = resolve(import.meta.dir, '../../src/dashboard/web');
const DIST = resolve(import.meta.dir, '../../src/dashboard/dist');

async function script(places: Layouts): Promise<Uint8Array> {
  const built = await Bun.build({
    entrypoints: [join(WEB, 'main.tsx')],
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

async function styles(): Promise<Uint8Array> {
  const source = await Bun.file(join(WEB, 'style.css')).text();
  const { build } = await compile(source, { base: WEB, onDependency: () => {} });
  const candidates = new Scanner({ sources: [{ base: WEB, pattern: '**/*.tsx', negated: false }] }).scan();
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

/** Builds the dashboard; answers how many kilobytes a browser loads. */
export async function buildDashboard(): Promise<number> {
  const [code, css, icon] = await Promise.all([
    layoutsOf(lifecycles.map(({ machine }) => draw(machine))).then(script),
    styles(),
    Bun.file(join(WEB, 'icon.svg')).bytes(),
  ]);
  const names = {
    code: `view-${hashOf(code)}.js`,
    css: `view-${hashOf(css)}.css`,
    icon: `icon-${hashOf(icon)}.svg`,
  };
  const page = (await Bun.file(join(WEB, 'page.html')).text()).replace(
    /%(code|css|icon)%/g,
    (_, name: keyof typeof names) => `/inspector/assets/${names[name]}`,
  );
  const pack: Pack = {
    page: packed('text/html; charset=utf-8', page),
    files: {
      [names.code]: packed('text/javascript; charset=utf-8', code),
      [names.css]: packed('text/css; charset=utf-8', css),
      [names.icon]: packed('image/svg+xml', icon),
    },
  };
  mkdirSync(DIST, { recursive: true });
  // The file is written aside first: two services that start together must not read half of it.
  const aside = join(DIST, `pack.${process.pid}.json`);
  await Bun.write(aside, JSON.stringify(pack));
  renameSync(aside, join(DIST, 'pack.json'));
  const brotli = [pack.page, ...Object.values(pack.files)].map(
    (file) => Buffer.from(file.brotli, 'base64').length,
  );
  return brotli.reduce((sum, bytes) => sum + bytes, 0) / 1_000;
}
