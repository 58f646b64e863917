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
 * Tortures until it came to what is looked for: what a machine gets done in a few seconds, and what of it falls together, is
 * not the same on all, nor when it is busy. Every outcome has to pass `holds`.
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

test('two instances that are killed, frozen and cut off keep every promise', async () => {
  const isExercised = ({ verdict, troubles, exercised }: Outcome): boolean =>
    [verdict.inBatches, verdict.toTwo, verdict.declined, ...Object.values(exercised)].every(
      (times) => times > 0,
    ) &&
    verdict.acknowledged > 50 &&
    (verdict.live?.taken ?? 0) > 10 &&
    [...troubles.values()].reduce((sum, times) => sum + times, 0) > 3;
  const outcome = await torturedUntil({}, isExercised, ({ verdict }) => expect(verdict.examples).toEqual([]));
  expect(isExercised(outcome)).toBeTrue();
  expect(tortureReport(outcome)).toContain('Every promise was kept.');
  expect(tortureReport(outcome)).not.toContain('NOT EXERCISED');
});

test('without the revision check the same torture fails', async () => {
  const isCaught = ({ verdict }: Outcome): boolean => (verdict.broken.get('cancelledSent') ?? 0) > 0;
  const outcome = await torturedUntil({ broken: 'revision' }, isCaught);
  expect(isCaught(outcome)).toBeTrue();
  expect(tortureReport(outcome)).toContain('A promise was broken.');
});

test('without stored replies to idempotency keys the same torture finds emails that were accepted twice', async () => {
  const isCaught = ({ verdict: { broken } }: Outcome): boolean =>
    (broken.get('wishTwice') ?? 0) > 0 && (broken.get('keyTwice') ?? 0) > 0;
  expect(isCaught(await torturedUntil({ broken: 'key' }, isCaught))).toBeTrue();
});

test('instances that believe the wrong clocks of their machines are found out by the same torture', async () => {
  const outcome = await torture({ ...short, seconds: 5, seed: 5, broken: 'clock' }, () => {});
  // Ahead of the others, one sends too early; what it times itself is due a day later than it should.
  const { broken } = outcome.verdict;
  expect((broken.get('tooEarly') ?? 0) + (broken.get('unfinished') ?? 0)).toBeGreaterThan(0);
});

test('no safeguard can be switched off where mail matters', async () => {
  await using database = await createTestDatabase();
  const torture = { token: 'a'.repeat(32), break: 'commit', leaseMs: 1_000, seed: 1 };
  await using service = await spawnService({
    env: { DATABASE_URL: database.url, SECRET_KEY: 'x'.repeat(32), TORTURE: JSON.stringify(torture) },
  });
  expect(await service.ended).toBe(1);
  expect(service.output()).toContain('this database was not made to be tortured');
});

test('a service that is not tortured runs the engine as it is, with nothing around it', async () => {
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
