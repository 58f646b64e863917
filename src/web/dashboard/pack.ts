import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { embeddedPacks } from './embedded.ts';

/** One file for browsers, compressed when it was built. */
export interface PackedFile {
  readonly type: string;
  /** Base64. */
  readonly brotli: string;
}

/** Built files for browsers. */
export interface FilePack {
  /** The build, which is in the addresses of its files. */
  readonly build: string;
  /** By name. */
  readonly files: Readonly<Record<string, PackedFile>>;
}

/** The built dashboard. */
export interface Pack extends FilePack {
  /** The document of the application. */
  readonly page: PackedFile;
}

/** The built reference of the interface, whose document the documentation draws. */
export interface ReferencePack extends FilePack {
  /** The names of the files that the document loads. */
  readonly styles: string;
  readonly script: string;
}

/** A pack and the way in which a checkout builds it. */
interface Source {
  /** The path inside the executable; null from source. */
  readonly embedded: string | null;
  readonly built: string;
  readonly script: string;
  /** The files that it is built from. */
  readonly sources: readonly string[];
}

const ROOT = join(import.meta.dir, '../../..');

/**
 * Opens the built dashboard. The executable contains it. A checkout builds it in a separate process when it
 * is missing or older than its sources, so that only the first request for the page waits.
 */
export const openPack = opener<Pack>({
  embedded: embeddedPacks?.dashboard ?? null,
  built: 'pack.json',
  script: 'scripts/dashboard.ts',
  sources: [
    'src/web/dashboard/web/*',
    'src/web/dashboard/web/application/**',
    'src/engine/drawing/*',
    'machines/**',
    'scripts/dashboard.ts',
    'scripts/dashboard/*',
    'bun.lock',
  ],
});

/** Opens the built reference of the interface, in the same way. */
export const openReferencePack = opener<ReferencePack>({
  embedded: embeddedPacks?.reference ?? null,
  built: 'reference.json',
  script: 'scripts/reference.ts',
  sources: ['src/web/dashboard/web/reference/*', 'scripts/reference.ts', 'scripts/reference/*', 'bun.lock'],
});

/** Opens a pack once; a failure is tried again by the next who asks. */
function opener<Built extends FilePack>(source: Source): () => Promise<Built> {
  let opening: Promise<Built> | undefined;
  return () => {
    opening ??= open<Built>(source).catch((error: unknown) => {
      opening = undefined;
      throw error;
    });
    return opening;
  };
}

async function open<Built extends FilePack>(source: Source): Promise<Built> {
  const built = join(import.meta.dir, 'dist', source.built);
  if (source.embedded === null && isStale(built, source.sources)) await build(source.script);
  return (await Bun.file(source.embedded ?? built).json()) as Built;
}

function isStale(path: string, patterns: readonly string[]): boolean {
  if (!existsSync(path)) return true;
  const built = statSync(path).mtimeMs;
  const sources = patterns.flatMap((pattern) => [...new Bun.Glob(pattern).scanSync({ cwd: ROOT })]);
  return sources.some((source) => statSync(join(ROOT, source)).mtimeMs > built);
}

async function build(script: string): Promise<void> {
  const child = Bun.spawn([process.execPath, script], { cwd: ROOT, stdout: 'ignore', stderr: 'pipe' });
  const [code, complaint] = await Promise.all([child.exited, new Response(child.stderr).text()]);
  if (code !== 0) throw new Error(`${script} could not build the pages:\n${complaint}`);
}
