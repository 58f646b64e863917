import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { buildDashboard } from '../dashboard/build-dashboard.ts';
import { buildReference } from '../reference/build-reference.ts';
import { EXECUTABLE, PLUGINS } from './bundle.ts';
import { prepareDataDirectory } from './prepare-data-directory.ts';

const DASHBOARD = resolve('src/web/dashboard/dist/pack.json');
const REFERENCE = resolve('src/web/dashboard/dist/reference.json');

const git = (...words: string[]): string | null => {
  const { status, stdout } = spawnSync('git', words, { encoding: 'utf8' });
  return status === 0 ? stdout.trim() : null;
};

/**
 * The commit: COMMIT where the history is not at hand, as in the image. Marked where files differ from it.
 */
export function builtCommit(): string | null {
  const changed = git('status', '--porcelain', '--untracked-files=no') ? ' with changes' : '';
  const head = git('rev-parse', '--short=12', 'HEAD');
  return process.env.COMMIT?.slice(0, 12) || (head && `${head}${changed}`);
}

/**
 * Makes the parts of every executable, for any machine: a database, the dashboard, the reference. Returns the
 * database's path.
 */
export async function prepareParts(folder: string): Promise<string> {
  // As in scripts/dashboard.ts and scripts/reference.ts.
  process.env.NODE_ENV = 'production';
  mkdirSync(folder, { recursive: true });
  const archive = join(folder, 'data-directory.tar.zst');
  const database = async () => void (await Bun.write(archive, await prepareDataDirectory()));
  // Side by side, since threads compress what each of them has made.
  await Promise.all([database(), buildDashboard(), buildReference()]);
  return archive;
}

/** One executable to make. */
export interface Executable {
  readonly outfile: string;
  /** As `prepareParts` has made it. */
  readonly archive: string;
  /** Bun's name of the machine that it is for, such as bun-linux-arm64; absent for this one. */
  readonly target?: Bun.Build.CompileTarget;
}

/** Compiles one executable. @throws when the bundler does */
export async function compile({ outfile, archive, target }: Executable): Promise<void> {
  const commit = builtCommit();
  const replacements = replacementsOf(archive);
  const replaced = new Set<string>();
  const built = await Bun.build({
    ...EXECUTABLE,
    compile: {
      outfile,
      ...(target && { target }),
      // The working directory must not change the executable's behaviour.
      autoloadDotenv: false,
      autoloadBunfig: false,
      // Compiling code that runs once at the start costs more than it saves;
      // src/ops/commands/serving/usual-compilers.ts ends this policy.
      jitPolicy: 8,
    },
    // 103 ms to start instead of 262 (measured), for 14 MB.
    bytecode: true,
    define: { ...EXECUTABLE.define, ...(commit !== null && { BUILT_COMMIT: JSON.stringify(commit) }) },
    sourcemap: 'linked',
    plugins: [...PLUGINS, carrying(replacements, replaced)],
  });
  for (const log of built.logs) console.warn(log);
  const missed = Object.keys(replacements).filter((path) => !replaced.has(path));
  if (missed.length > 0)
    throw new Error(`The executable would lack what it carries: ${missed.join(', ')} was not bundled.`);
  chmodSync(outfile, 0o755);
}

/** Modules whose contents the build replaces, by their paths: a path that has moved fails the build. */
const replacementsOf = (archive: string): Readonly<Record<string, string>> => ({
  [resolve('src/platform/db/server/prepared.ts')]:
    `import path from ${JSON.stringify(archive)} with { type: 'file' };
    export const preparedDataDirectory = path;`,
  [resolve('src/web/dashboard/embedded.ts')]:
    `import dashboard from ${JSON.stringify(DASHBOARD)} with { type: 'file' };
    import reference from ${JSON.stringify(REFERENCE)} with { type: 'file' };
    export const embeddedPacks = { dashboard, reference };`,
});

const carrying = (replacements: Readonly<Record<string, string>>, replaced: Set<string>): Bun.BunPlugin => ({
  name: 'posthorn',
  setup(build) {
    build.onLoad({ filter: /\/(?:prepared|embedded)\.ts$/ }, ({ path }) => {
      const contents = replacements[path];
      if (contents === undefined) return undefined;
      replaced.add(path);
      return { contents, loader: 'ts' };
    });
  },
});
