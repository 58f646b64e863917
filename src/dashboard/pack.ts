import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { embeddedPack } from './embedded.ts';

/** One file of the dashboard, compressed when it was built. */
export interface PackedFile {
  readonly type: string;
  /** Base64. */
  readonly brotli: string;
  readonly gzip: string;
}

/** The files that a browser is given. */
export interface Pack {
  /** The build, which is in the addresses of its files. */
  readonly build: string;
  /** The document of the application. */
  readonly page: PackedFile;
  /** By name. */
  readonly files: Readonly<Record<string, PackedFile>>;
}

const ROOT = join(import.meta.dir, '../..');
const BUILT = join(import.meta.dir, 'dist/pack.json');
/** The files that the dashboard is built from. */
const SOURCES =
  'src/dashboard/web/**,src/drawing/*,machines/*,scripts/dashboard.ts,scripts/dashboard/*,bun.lock'.split(
    ',',
  );

let opening: Promise<Pack> | undefined;

/**
 * The built dashboard. The executable carries it inside; a checkout builds it when it is missing or older than its sources,
 * in a process of its own, so that only the first request for the page waits.
 */
export function openPack(): Promise<Pack> {
  opening ??= open().catch((error: unknown) => {
    opening = undefined;
    throw error;
  });
  return opening;
}

async function open(): Promise<Pack> {
  if (embeddedPack === null && isStale()) await build();
  return (await Bun.file(embeddedPack ?? BUILT).json()) as Pack;
}

function isStale(): boolean {
  if (!existsSync(BUILT)) return true;
  const built = statSync(BUILT).mtimeMs;
  const sources = SOURCES.flatMap((pattern) => [...new Bun.Glob(pattern).scanSync({ cwd: ROOT })]);
  return sources.some((path) => statSync(join(ROOT, path)).mtimeMs > built);
}

async function build(): Promise<void> {
  const child = Bun.spawn([process.execPath, 'scripts/dashboard.ts'], {
    cwd: ROOT,
    stdout: 'ignore',
    stderr: 'pipe',
  });
  const [code, complaint] = await Promise.all([child.exited, new Response(child.stderr).text()]);
  if (code !== 0) throw new Error(`The dashboard could not be built:\n${complaint}`);
}
