import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import postgres from 'postgres';
import { command } from '../support/command.ts';
import { eventually } from '../support/eventually.ts';
import { createTestDatabase } from '../support/postgres.ts';
import { bringPreparedDirectory } from '../support/prepared-directory.ts';
import { COMMAND, spawnService } from '../support/service.ts';
import { tableDigests } from '../support/table-digests.ts';
import { backUpUnderLoad } from './backup-load.ts';

beforeAll(bringPreparedDirectory);

describe.each(['PGlite', 'PostgreSQL'] as const)('a backup of %s while emails come in', (from) => {
  test('holds every email that was acknowledged before it began, and agrees with itself where it is restored', async () => {
    const outcome = await backUpUnderLoad({ from, emails: 300, senders: 4, batch: 10 });
    expect(outcome).toMatchObject({ codes: [0, 0, 0], missing: [] });
    expect(outcome.before).toBeGreaterThanOrEqual(300);
    expect(outcome.during).toBeGreaterThan(0);
    expect(outcome.stored).toBeGreaterThanOrEqual(outcome.before);
  });
});

describe('a restore that is killed in the middle', () => {
  const SECRET_KEY = 'only-for-tests-only-for-tests-only';
  let home: string;
  let file: string;
  beforeAll(async () => {
    home = mkdtempSync(join(tmpdir(), 'posthorn-restore-kill-'));
    file = join(home, 'backup');
    await using source = await createTestDatabase();
    const settings = { DATABASE_URL: source.url, DATA_DIR: join(home, 'source'), SECRET_KEY };
    await command(settings, 'workspaces', 'create', 'One');
    expect(await command(settings, 'backup', file)).toMatchObject({ code: 0 });
  });
  afterAll(() => rmSync(home, { recursive: true, force: true }));

  /** Kills a restore at the moment that `reached` says; it must not have ended by itself. */
  async function killedRestore(
    environment: Record<string, string>,
    reached: () => Promise<boolean>,
  ): Promise<void> {
    const restoring = Bun.spawn([...COMMAND, 'restore', file], {
      stdout: 'ignore',
      stderr: 'pipe',
      env: { PATH: process.env.PATH ?? '', ...environment },
    });
    const errors = new Response(restoring.stderr).text();
    const isInTheMiddle = await eventually(
      'the middle',
      async () => (restoring.exitCode === null ? (await reached()) || undefined : false),
      { everyMs: 1 },
    );
    restoring.kill('SIGKILL');
    await restoring.exited;
    expect({ isInTheMiddle, signal: restoring.signalCode, errors: await errors }).toEqual({
      isInTheMiddle: true,
      signal: 'SIGKILL',
      errors: expect.any(String),
    });
  }

  test('into a folder leaves nothing that could be served, and is begun again', async () => {
    const dataDir = join(home, 'target');
    await killedRestore({ DATA_DIR: dataDir, SECRET_KEY }, async () =>
      existsSync(join(dataDir, 'restoring', 'postgres')),
    );
    expect(existsSync(join(dataDir, 'postgres'))).toBeFalse();
    {
      await using refused = await spawnService({ dataDir, env: { SECRET_KEY } });
      expect(await refused.ended).toBe(1);
      expect(refused.output()).toContain('A restore was begun in');
    }
    expect(await command({ DATA_DIR: dataDir, SECRET_KEY }, 'restore', file)).toMatchObject({ code: 0 });
    expect((await tableDigests({ url: null, dataDir })).workspaces).toStartWith('1 rows');
  });

  test('into a server leaves nothing at all, and is begun again', async () => {
    await using target = await createTestDatabase();
    const sql = postgres(target.url, { max: 1, onnotice: () => {} });
    const before = await tableDigests({ url: target.url, dataDir: null });
    const settings = { DATABASE_URL: target.url, DATA_DIR: join(home, 'beside'), SECRET_KEY };
    // Holds it up where its tables are to be filled.
    const held = Promise.withResolvers<void>();
    const { promise: killed, resolve } = Promise.withResolvers<void>();
    const holding = sql.begin(async (tx) => {
      await tx`lock table workspaces in share mode`;
      held.resolve();
      await killed;
    });
    // A restore that is quicker to the table ends by itself.
    await Promise.race([held.promise, holding]);
    const watch = postgres(target.url, { max: 1 });
    await killedRestore(settings, async () => {
      const [row] = await watch`select count(*)::integer as waiting from pg_stat_activity
        where datname = ${target.name} and application_name = 'posthorn backup' and wait_event_type = 'Lock'`;
      return row?.waiting === 1;
    });
    resolve();
    await holding;
    await Promise.all([sql.end(), watch.end()]);
    await eventually('its connection is gone', async () => {
      expect(await tableDigests({ url: target.url, dataDir: null })).toEqual(before);
      return true;
    });
    expect(await command(settings, 'restore', file)).toMatchObject({ code: 0 });
    expect((await tableDigests({ url: target.url, dataDir: null })).workspaces).toStartWith('1 rows');
  });
});
