import { relative, resolve } from 'node:path';
import { EXECUTABLE, PLUGINS } from '../build/bundle.ts';
import { APPLICATION, stylesheets } from '../dashboard/build-dashboard.ts';
import { REFERENCE, REFERENCE_STYLES } from '../reference/build-reference.ts';

/** The folder of the package that a file belongs to; null for our own files. */
export const packageOf = (path: string): string | null =>
  /^(.*\bnode_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? null;

/** The files that the bundlers read for the shipped parts. @throws when one cannot bundle */
async function inputs(): Promise<readonly string[]> {
  const read: string[] = [];
  // A file that this script is about to write need not exist yet.
  const external = [...EXECUTABLE.external, '*/THIRD-PARTY-LICENSES.txt'];
  for (const config of [{ ...EXECUTABLE, external, plugins: [...PLUGINS] }, APPLICATION, REFERENCE]) {
    const { metafile, outputs } = await Bun.build({ ...config, metafile: true });
    if (!metafile) throw new Error('The bundler did not report its inputs.');
    if ('external' in config) await checkLetters(outputs);
    read.push(...Object.keys(metafile.inputs));
  }
  return [...read, ...(await stylesheets()), REFERENCE_STYLES];
}

/** @throws where a chunk of the executable would be stored in twice its size */
async function checkLetters(outputs: readonly Bun.BuildArtifact[]): Promise<void> {
  for (const output of outputs) {
    if (output.kind !== 'entry-point' && output.kind !== 'chunk') continue;
    const [words] = /[^\t-\r -~].{0,60}/u.exec(await output.text()) ?? [];
    if (words !== undefined)
      throw new Error(
        `${output.path} has letters beyond ASCII, in a comment that scripts/build/bundle.ts can leave out: ${words}`,
      );
  }
}

/**
 * The folders of all packages of which something is in the executable, sorted, from the root of the
 * repository.
 */
export async function bundledPackages(): Promise<readonly string[]> {
  const folders = (await inputs()).flatMap((path) => packageOf(relative('.', resolve(path))) ?? []);
  return [...new Set(folders)].sort();
}
