import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, statSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { browserMjml, EXECUTABLE } from './build/bundle.ts';
import { prepareDataDirectory } from './build/prepare-data-directory.ts';
import { buildDashboard } from './dashboard/build-dashboard.ts';
import { buildReference } from './reference/build-reference.ts';

// Builds dist/posthorn, or posthorn in the given folder: one executable with the runtime, the migrations, WebAssembly
// and everything else inside.

const FOLDER = resolve(process.argv[2] ?? 'dist');
const OUTPUT = join(FOLDER, 'posthorn');
const DASHBOARD = resolve('src/dashboard/dist/pack.json');
const REFERENCE = resolve('src/dashboard/dist/reference.json');
const ARCHIVE = join(FOLDER, 'data-directory.tar.zst');

// Bun inlines NODE_ENV while it bundles; without this the libraries' development branches would be shipped.
process.env.NODE_ENV = 'production';

/** The commit: COMMIT where the history is not at hand, as in the image. Marked where files differ from it. */
const git = (...words: string[]): string | null => {
  const { status, stdout } = spawnSync('git', words, { encoding: 'utf8' });
  return status === 0 ? stdout.trim() : null;
};
const changed = git('status', '--porcelain', '--untracked-files=no') ? ' with changes' : '';
const head = git('rev-parse', '--short=12', 'HEAD');
const commit = process.env.COMMIT?.slice(0, 12) || (head && `${head}${changed}`);

const start = performance.now();
mkdirSync(FOLDER, { recursive: true });
await Bun.write(ARCHIVE, await prepareDataDirectory());
await buildDashboard();
await buildReference();

const built = await Bun.build({
  ...EXECUTABLE,
  compile: {
    outfile: OUTPUT,
    // The working directory must not change the executable's behaviour.
    autoloadDotenv: false,
    autoloadBunfig: false,
  },
  // 103 ms to start instead of 262 (measured), for 14 MB.
  bytecode: true,
  define: commit === null ? {} : { BUILT_COMMIT: JSON.stringify(commit) },
  sourcemap: 'linked',
  plugins: [
    browserMjml,
    {
      name: 'posthorn',
      setup(build) {
        build.onLoad({ filter: /\/src\/db\/prepared\.ts$/ }, () => ({
          contents: `import path from ${JSON.stringify(ARCHIVE)} with { type: 'file' };
            export const preparedDataDirectory = path;`,
          loader: 'ts',
        }));
        build.onLoad({ filter: /\/src\/dashboard\/embedded\.ts$/ }, () => ({
          contents: `import dashboard from ${JSON.stringify(DASHBOARD)} with { type: 'file' };
            import reference from ${JSON.stringify(REFERENCE)} with { type: 'file' };
            export const embeddedPacks = { dashboard, reference };`,
          loader: 'ts',
        }));
      },
    },
  ],
});
for (const log of built.logs) console.warn(log);
chmodSync(OUTPUT, 0o755);
const megabytes = (statSync(OUTPUT).size / 1e6).toFixed(0);
console.log(
  `Built ${relative('.', OUTPUT)}: ${megabytes} MB in ${((performance.now() - start) / 1000).toFixed(1)} s.`,
);
