import { expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import pino from 'pino';
import { type Outcome, type TortureOptions, torture } from '../../src/chaos/torture.ts';
import { tortureReport } from '../../src/commands/torture.ts';
import { loadConfig } from '../../src/config/config.ts';
import { Engine } from '../../src/engine/engine.ts';
import { openService } from '../../src/service.ts';
import { createTestDatabase } from '../support/postgres.ts';
import { spawnService } from '../support/service.ts';

// The short form of `posthorn torture`. The long one, and one run for each safeguard: see README.md beside this file.

const COMMAND = [process.execPath, resolve(import.meta.dir, '../../src/main.ts')];
const short = {
  instances: 2,
  command: COMMAND,
  postgresBin: null,
  workers: 32,
  webhooks: false,
  live: true,
  clocks: true,
};

/**
 * Repeats longer and longer runs until one finds what is looked for, because the work and the coincidences of a few seconds
 * differ between machines, and with their load. Every outcome has to pass `holds`.
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

test('without the revision check the same run violates an invariant', async () => {
  const isCaught = ({ verdict }: Outcome): boolean => (verdict.violated.get('cancelledSent') ?? 0) > 0;
  const outcome = await torturedUntil({ broken: 'revision' }, isCaught);
  expect(isCaught(outcome)).toBeTrue();
  expect(tortureReport(outcome)).toContain('An invariant was violated.');
});

test('without stored replies to idempotency keys the same run finds emails that were accepted twice', async () => {
  const isCaught = ({ verdict: { violated } }: Outcome): boolean =>
    (violated.get('storedTwice') ?? 0) > 0 && (violated.get('keyTwice') ?? 0) > 0;
  expect(isCaught(await torturedUntil({ broken: 'key' }, isCaught))).toBeTrue();
});

test('instances that believe the wrong clocks of their machines violate an invariant in the same run', async () => {
  const outcome = await torture({ ...short, seconds: 5, seed: 5, broken: 'clock' }, () => {});
  // An instance that is ahead sends too early, and its own timers are due a day late.
  const { violated } = outcome.verdict;
  expect((violated.get('tooEarly') ?? 0) + (violated.get('unfinished') ?? 0)).toBeGreaterThan(0);
});

test('no safeguard can be switched off on a database that no chaos run has created', async () => {
  await using database = await createTestDatabase();
  const torture = { token: 'a'.repeat(32), break: 'commit', leaseMs: 1_000, seed: 1 };
  await using service = await spawnService({
    env: { DATABASE_URL: database.url, SECRET_KEY: 'x'.repeat(32), TORTURE: JSON.stringify(torture) },
  });
  expect(await service.ended).toBe(1);
  expect(service.output()).toContain('this database was not made to be tortured');
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
