import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { version } from '../package.json';
import { builtCommit, compile, prepareParts } from './build/compile.ts';
import { bundledPackages } from './licenses/bundled-packages.ts';
import { licenseOf } from './licenses/license-of.ts';
import { billOfMaterials } from './release/bill-of-materials.ts';
import { targetsOf } from './release/targets.ts';
import { newestVersion, pinnedVersion, ZONES_PACKAGE } from './release/zones-package.ts';

// Builds a release into dist/release: an archive for each machine, their checksums, and a bill of materials.
//
//   bun run release [--tag v0.1.0] [target …]
//
// With --tag it has to be of that version, of a commit without changes, and with the newest time zones. The
// executables of other machines need Bun of these, which it fetches from the package registry.

const FOLDER = resolve('dist/release');
/** The commit's time, in seconds: an archive shows neither its maker nor the time of packing. */
const EPOCH = Number(spawnSync('git', ['log', '-1', '--format=%ct'], { encoding: 'utf8' }).stdout) || 0;

const { values, positionals } = parseArgs({ options: { tag: { type: 'string' } }, allowPositionals: true });
const problem = problemOf(values.tag);
if (problem !== null) {
  console.error(problem);
  process.exitCode = 1;
} else await release(targetsOf(positionals));

/** Why this is not what the tag says; null when it is. */
function problemOf(tag: string | undefined): string | null {
  if (tag === undefined) return null;
  if (tag !== `v${version}`)
    return `The tag is ${tag}, and package.json has version ${version}: make them the same.`;
  const commit = builtCommit();
  if (commit === null || commit.includes(' ')) return 'Commit everything first: a release is of one commit.';
  const newest = newestVersion();
  if (newest === null)
    return 'The registry does not answer, so newer rules of time zones are unknown. Try again later.';
  return newest === pinnedVersion
    ? null
    : `${ZONES_PACKAGE} ${newest} has newer rules of time zones than ${pinnedVersion}: run bun scripts/zones.ts first.`;
}

async function release(targets: ReturnType<typeof targetsOf>): Promise<void> {
  rmSync(FOLDER, { recursive: true, force: true });
  mkdirSync(FOLDER, { recursive: true });
  const archive = await prepareParts('dist/parts');
  const made: string[] = [];
  for (const target of targets) {
    const start = performance.now();
    const name = `posthorn-${version}-${target.name}`;
    const folder = join('dist/parts', name);
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    await compile({ outfile: join(folder, target.file), archive: resolve(archive), target: target.bun });
    for (const text of ['LICENSE', 'THIRD-PARTY-LICENSES.txt']) copyFileSync(text, join(folder, text));
    pack(`${name}.tar.gz`, folder, [target.file, 'LICENSE', 'THIRD-PARTY-LICENSES.txt']);
    made.push(`${name}.tar.gz`);
    console.log(`Built ${name} in ${((performance.now() - start) / 1000).toFixed(0)} s.`);
  }
  const bill = `posthorn-${version}.cdx.json`;
  writeFileSync(join(FOLDER, bill), billOfMaterials(version, Bun.version, await packages()));
  const sums = [...made, bill].map((name) => `${sha256(join(FOLDER, name))}  ${name}\n`);
  writeFileSync(join(FOLDER, 'SHA256SUMS'), sums.join(''));
  console.log(`${made.length} archives, ${bill} and SHA256SUMS are in dist/release.`);
}

async function packages() {
  const found = (await bundledPackages()).map(licenseOf);
  const wrong = found.filter((one) => typeof one === 'string');
  if (wrong.length > 0) throw new Error(wrong.join('\n'));
  return found.filter((one) => typeof one !== 'string');
}

function pack(name: string, folder: string, files: readonly string[]): void {
  const same = ['--sort=name', '--owner=0', '--group=0', '--numeric-owner', `--mtime=@${EPOCH}`];
  const words = ['-I', 'gzip -n', '-cf', join(FOLDER, name), ...same, '-C', folder, ...files];
  const { status, stderr } = spawnSync('tar', words, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`tar failed: ${stderr}`);
}

function sha256(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex');
}
