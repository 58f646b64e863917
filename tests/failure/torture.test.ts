import { expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import pino from 'pino';
import { tortureReport } from '../../src/commands/torture.ts';
import { loadConfig } from '../../src/config.ts';
import { Engine } from '../../src/engine/engine.ts';
import { openService } from '../../src/service.ts';
import { torture } from '../../src/torture/torture.ts';
import { createTestDatabase } from '../support/postgres.ts';
import { spawnService } from '../support/service.ts';

// The short form of `posthorn torture`. The long one, and one run for each safeguard: see README.md beside this file.

const COMMAND = [process.execPath, resolve(import.meta.dir, '../../src/main.ts')];
const short = { instances: 2, command: COMMAND, postgresBin: null, workers: 32, webhooks: false, live: true };

test('two instances that are killed, frozen and cut off keep every promise', async () => {
  const outcome = await torture({ ...short, seconds: 6, seed: 5 }, () => {});
  expect(outcome.verdict.examples).toEqual([]);
  expect(outcome.verdict.acknowledged).toBeGreaterThan(50);
  expect(outcome.verdict.live?.taken).toBeGreaterThan(10);
  expect([...outcome.troubles.values()].reduce((sum, times) => sum + times, 0)).toBeGreaterThan(3);
  const { verdict, exercised } = outcome;
  for (const times of [verdict.inBatches, verdict.toTwo, verdict.declined, ...Object.values(exercised)])
    expect(times).toBeGreaterThan(0);
  expect(tortureReport(outcome)).toContain('Every promise was kept.');
  expect(tortureReport(outcome)).not.toContain('NOT EXERCISED');
}, 90_000);

test('without the revision check the same torture fails', async () => {
  const outcome = await torture({ ...short, seconds: 5, seed: 5, broken: 'revision' }, () => {});
  expect(outcome.verdict.broken.get('cancelledSent')).toBeGreaterThan(0);
  expect(tortureReport(outcome)).toContain('A promise was broken.');
}, 90_000);

test('without stored replies to idempotency keys the same torture finds emails that were accepted twice', async () => {
  const outcome = await torture({ ...short, seconds: 5, seed: 5, broken: 'key' }, () => {});
  expect(outcome.verdict.broken.get('wishTwice')).toBeGreaterThan(0);
  expect(outcome.verdict.broken.get('keyTwice')).toBeGreaterThan(0);
}, 90_000);

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
