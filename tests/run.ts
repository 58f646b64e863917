import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { Glob } from 'bun';
import { chromiumProgram } from './browser/chromium.ts';
import { startSharedCluster } from './support/cluster.ts';
import { embeddedImage } from './support/embedded.ts';
import { dropLeftovers } from './support/leftovers.ts';
import { Progress } from './support/progress.ts';
import { scratchFolder } from './support/scratch.ts';
import { readFailures, readTally } from './support/tally.ts';
import { files as timings } from './timings.json';

// Runs every test, or those whose path matches an argument, on one real PostgreSQL, and ends with one plain
// line that says how it went. TEST_DATABASE_URL names a server to use instead of the one that this starts.
//
//   bun run test [path …] [--busy] [flags of bun test]
//
// --busy runs four endless loops a core beside it, and eight at least: no test may mind. --update-timings
// writes down how long each file took; the slowest begin first.

const BUSY = '--busy';
/** The pace at which the remaining files are reported. */
const TOLD_EVERY_MS = 15_000;
const words = process.argv.slice(2).filter((word) => word !== BUSY);
const cores = availableParallelism();
/** A laptop that builds, indexes and plays a film beside it. */
const LOOPS = Math.max(8, 4 * cores);
/**
 * Tests mostly wait for processes and databases, so that one file more than there are cores keeps these at
 * work. With two more, tests that bound a stall measure the other files, and the whole run takes no less: the
 * processors have no time left (18 min, 2026-11-29).
 */
const workers = cores + 1;

const scratch = scratchFolder();
const given = process.env.TEST_DATABASE_URL;
const kept = process.env.TEST_CACHE ?? tmpdir();
process.env.TMPDIR = scratch;
const hasBrowser =
  !words.some((word) => word.startsWith('tests/')) || words.some((word) => word.includes('browser'));
const [cluster] = await Promise.all([
  given ? undefined : startSharedCluster(),
  embeddedImage(),
  // Unpacked here, since files that run side by side would do it to one place at once.
  hasBrowser && chromiumProgram(),
]);
const url = cluster?.url ?? given ?? '';
const loops = process.argv.includes(BUSY)
  ? Array.from({ length: LOOPS }, () => spawn(process.execPath, ['-e', 'for(;;){}']))
  : [];
process.once('exit', () => {
  for (const loop of loops) loop.kill('SIGKILL');
  cluster?.stopNow();
  rmSync(scratch, { recursive: true, force: true });
});

// Built here and not by the test of it, whose time is limited: on a busy machine it takes minutes.
const isAsked =
  !words.some((word) => word.startsWith('tests/')) || words.some((word) => word.includes('executable'));
const executable = process.env.POSTHORN_EXECUTABLE ?? (isAsked ? await built() : undefined);
const report = join(scratch, 'report.xml');
const flags = [
  `--parallel=${workers}`,
  // Code that a process has read and compiled serves all files that it runs, which takes a quarter less of
  // the processor (integration 571 s instead of 739, contract 235 instead of 337). A file leaves nothing
  // behind that another one could see.
  '--no-isolate',
  // Ends what hangs, and judges nothing: processes and databases start here, on machines that do other things
  // too. The preload says the same for a file that is run by itself, but then only to the first of several.
  '--timeout=600000',
  `--timings=${join(import.meta.dir, 'timings.json')}`,
  '--reporter=junit',
  `--reporter-outfile=${report}`,
];
/**
 * The optimising compilers pay off after minutes: without them tests of PGlite take a fifth less of the
 * processor. So do threads that look for garbage beside the one that makes it, where every core has work
 * anyway: a twentieth.
 */
const BRIEF = {
  BUN_JSC_useFTLJIT: '0',
  BUN_JSC_useOMGJIT: '0',
  BUN_JSC_useConcurrentGC: '0',
  BUN_JSC_numberOfGCMarkers: '1',
  // Memory that is free is kept. Else the allocator gives it back, and the next test faults it in again: a
  // tenth of a worker's processor time, for an eighth more memory. It does not reach services, which begin
  // without the environment of the tests.
  MIMALLOC_PURGE_DELAY: '-1',
};
const isAskedFor = (file: string): boolean => {
  const names = words.filter((word) => !word.startsWith('-'));
  return names.length === 0 || names.some((name) => file.includes(name.replace(/^\.\//, '')));
};
const progress = new Progress(
  [...new Glob('tests/**/*.test.ts').scanSync()].filter(isAskedFor),
  timings,
  workers,
);
const begin = performance.now();
const tests = spawn(process.execPath, ['test', ...flags, ...words], {
  stdio: ['inherit', 'inherit', 'pipe'],
  env: {
    ...(process.stderr.isTTY && { FORCE_COLOR: '1' }),
    ...BRIEF,
    ...process.env,
    TEST_DATABASE_URL: url,
    TMPDIR: scratch,
    TEST_CACHE: kept,
    ...(executable && { POSTHORN_EXECUTABLE: executable }),
  },
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => tests.kill(signal));
// Bun prints its files and tests there.
tests.stderr.setEncoding('utf8').on('data', (output: string) => {
  process.stderr.write(output);
  progress.read(stripVTControlCharacters(output));
});
const telling = setInterval(
  () => console.error(`\n--- ${progress.tell(performance.now() - begin)}\n`),
  TOLD_EVERY_MS,
);
const [code] = (await once(tests, 'close')) as [number | null];
clearInterval(telling);
// The loops end with the tests: this process could not end before its children.
for (const loop of loops) loop.kill('SIGKILL');

const leftovers = await dropLeftovers(url);
for (const name of leftovers)
  console.error(`A test left its database ${name} behind: close what it created.`);
await cluster?.stop();

// Failures are repeated here: above, they lie somewhere among the lines of six thousand tests.
for (const failure of readFailures(report)) console.log(`\n${failure}`);
const tally = readTally(report);
// A run in which nothing ran has shown nothing; an error outside any test counts as one failure.
const good = code === 0 && tally.passed > 0 && tally.failed === 0 && leftovers.length === 0;
const failed = good ? 0 : Math.max(tally.failed, 1);
const skipped = tally.skipped > 0 ? `, ${tally.skipped} skipped` : '';
console.log(`${tally.passed} passed, ${failed} failed${skipped}`);
process.exitCode = good ? 0 : 1;

/** Builds the executable into the scratch folder; answers its path. */
async function built(): Promise<string> {
  const build = spawn(process.execPath, ['scripts/build.ts', scratch], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const [status] = (await once(build, 'close')) as [number | null];
  if (status !== 0) throw new Error('The executable could not be built.');
  return join(scratch, 'posthorn');
}
