import { beforeAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { Engine } from '../../src/engine/engine.ts';
import { tortureReport } from '../../src/ops/commands/torture.ts';
import { type Outcome, type TortureOptions, torture } from '../../src/ops/torture/torture.ts';
import { loadConfig } from '../../src/platform/config/config.ts';
import { openService } from '../../src/service.ts';
import { createTestDatabase } from '../support/postgres.ts';
import { bringPreparedDirectory } from '../support/prepared-directory.ts';
import { COMMAND, spawnService } from '../support/service.ts';

// The short form of `posthorn torture`. The long one, and one run for each safeguard: see README.md beside
// this file.

// The run on the embedded database initialises none: that takes 5 s of processor time, and the migrations as
// much.
beforeAll(bringPreparedDirectory);

const short = {
  instances: 2,
  embedded: false,
  command: COMMAND,
  postgresBin: null,
  workers: 16,
  webhooks: false,
  live: true,
  campaigns: false,
  clocks: true,
  broken: [],
};

/**
 * Repeats longer and longer runs until one finds what is looked for, because the work and the coincidences of
 * a few seconds differ between machines, and with their load. Every outcome has to pass `holds`.
 */
async function torturedUntil(
  more: Partial<TortureOptions>,
  isFound: (outcome: Outcome) => boolean,
  holds: (outcome: Outcome) => void = () => {},
): Promise<Outcome> {
  for (let round = 0; ; round++) {
    const outcome = await torture({ ...short, seconds: 5 + 5 * round, seed: 5 + round, ...more }, () => {});
    holds(outcome);
    if (isFound(outcome) || round === 4) return outcome;
  }
}

test('two instances that are killed, frozen and cut off violate no invariant', async () => {
  const isExercised = ({ verdict, faults, exercised }: Outcome): boolean =>
    [verdict.inBatches, verdict.toTwo, verdict.declined, ...Object.values(exercised)].every(
      (times) => times > 0,
    ) &&
    verdict.acknowledged > 50 &&
    (verdict.live?.taken ?? 0) > 10 &&
    [...faults.values()].reduce((sum, times) => sum + times, 0) > 3;
  const outcome = await torturedUntil({}, isExercised, ({ verdict }) => expect(verdict.examples).toEqual([]));
  expect(isExercised(outcome)).toBeTrue();
  expect(tortureReport(outcome)).toContain('Every invariant held.');
  expect(tortureReport(outcome)).not.toContain('NOT EXERCISED');
});

test('an instance with its embedded database that is killed and frozen violates no invariant', async () => {
  const run = { ...short, instances: 1, embedded: true, workers: 6, seconds: 5, seed: 1 };
  const { verdict, faults } = await torture(run, () => {});
  expect(verdict.examples).toEqual([]);
  expect(verdict.emails).toBeGreaterThan(0);
  // Without a server nothing of a server is broken.
  const ofProcess = ['kill', 'crash point', 'freeze instance', 'restart'];
  expect([...faults.keys()].filter((fault) => !ofProcess.includes(fault))).toEqual([]);
  expect(faults.size).toBeGreaterThan(0);
});

/** The invariants of which a breach tells that revisions are missing; no other safeguard guards them. */
const WITHOUT_REVISIONS = ['cancelledSent', 'unexpectedEvent', 'takenTwice', 'wrongEnd'] as const;

// Other safeguards take longer to be missed: `posthorn torture --break key`, for each of those in README.md.
test('without revisions the same run finds them missing', async () => {
  const isCaught = ({ verdict }: Outcome): boolean =>
    WITHOUT_REVISIONS.some((invariant) => verdict.violated.has(invariant));
  const outcome = await torturedUntil({ broken: ['revision'] }, isCaught);
  expect([[...outcome.verdict.violated.keys()], isCaught(outcome)]).toEqual([expect.anything(), true]);
  expect(tortureReport(outcome)).toContain('An invariant was violated.');
});

// In the end the last messages come again at every instance, so that one run finds it on every machine.
test('without the fingerprints of received messages the same run finds them twice', async () => {
  const { verdict } = await torture({ ...short, seconds: 1, seed: 5, broken: ['received'] }, () => {});
  expect(verdict.mail?.acknowledged).toBeGreaterThan(0);
  expect([...verdict.violated.keys()]).toEqual(['mailTwice']);
});

test('no safeguard can be switched off on a database that no chaos run has created', async () => {
  await using database = await createTestDatabase();
  const torture = { token: 'a'.repeat(32), break: ['commit'], leaseMs: 1_000, seed: 1 };
  await using service = await spawnService({
    env: { DATABASE_URL: database.url, SECRET_KEY: 'x'.repeat(32), TORTURE: JSON.stringify(torture) },
  });
  expect(await service.ended).toBe(1);
  expect(service.output()).toContain('this database was not made for a torture run');
});

test('a service without TORTURE runs the plain engine, without wrappers', async () => {
  await using database = await createTestDatabase();
  const dataDir = mkdtempSync(join(tmpdir(), 'posthorn-untortured-'));
  const loaded = loadConfig({ DATABASE_URL: database.url, DATA_DIR: dataDir });
  if ('problems' in loaded) throw new Error(loaded.problems.join());
  const service = await openService({ config: loaded.config, logger: pino({ level: 'silent' }) });
  expect(service.engine.constructor).toBe(Engine);
  await service.stop();
  rmSync(dataDir, { recursive: true });
});

test.each([['{}'], ['revision'], ['{"token":"short","leaseMs":1000,"seed":1}']])(
  'TORTURE=%s is refused as a configuration',
  async (written) => {
    await using service = await spawnService({ env: { TORTURE: written } });
    expect(await service.ended).toBe(2);
    expect(service.output()).toContain('TORTURE must be what posthorn torture sets');
  },
);
