import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { replaceSecretKey } from '../../src/ops/commands/database/secret-key.ts';
import { diagnoseSecretKey } from '../../src/ops/doctor/secret-key.ts';
import { createSealer } from '../../src/platform/crypto/sealer.ts';
import { bindToKey, isItsKey, WrongSecretKey } from '../../src/platform/db/canary.ts';
import type { Database } from '../../src/platform/db/database.ts';
import { migrate } from '../../src/platform/db/migrate.ts';
import { openDatabase } from '../../src/platform/db/open.ts';

import { startLiveService } from '../support/live-service.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts';
import { COMMAND, spawnService, startService } from '../support/service.ts';
import { onEachStore } from '../support/shared-store.ts';

const KEY = 'the-key-of-this-database-the-key-of';
const ANOTHER = 'another-key-another-key-another-key';

/** Does something with a database that is closed before and afterwards. */
async function withDatabase<Value>(
  url: string,
  work: (database: Database) => Promise<Value>,
): Promise<Value> {
  const database = await openDatabase({ url, dataDir: null });
  try {
    await migrate(database);
    return await work(database);
  } finally {
    await database.close();
  }
}

onEachStore('a database is bound to the key of its first start', (store) => {
  test('of several with different keys that start at once, one is right and goes on to be', async () => {
    const keys = [0, 1, 2, 3].map((n) => `${KEY}${n}`);
    for (const key of keys) expect(await isItsKey(store.database, createSealer(key))).toBeNull();
    const bound = await Promise.allSettled(keys.map((key) => bindToKey(store.database, [key])));
    const right = bound.flatMap(({ status }, index) => (status === 'fulfilled' ? [index] : []));
    expect(right).toHaveLength(1);
    for (const one of bound) if (one.status === 'rejected') expect(one.reason).toBeInstanceOf(WrongSecretKey);
    for (const [index, key] of keys.entries()) {
      expect(await isItsKey(store.database, createSealer(key))).toBe(right.includes(index));
      const source = { secretKey: key, secretKeyPrevious: null, dataDir: '/nowhere' };
      const { status } = await diagnoseSecretKey(source, store.database);
      expect(status).toBe(right.includes(index) ? 'fine' : 'wrong');
    }
  });
});

test('a key that is still there is not taken for lost: to replace it is refused, and the database keeps it', async () => {
  const made = await createTestDatabase();
  try {
    await withDatabase(made.url, (database) => bindToKey(database, [KEY]));
    const out: string[] = [];
    const error: string[] = [];
    const terminal = { out: (text: string) => out.push(text), error: (text: string) => error.push(text) };
    const config = { databaseUrl: made.url, dataDir: '/nowhere', secretKey: ANOTHER, secretKeyPrevious: KEY };
    expect(await replaceSecretKey(config as never, terminal as never)).toBe(1);
    expect(out).toEqual([]);
    expect(error.join()).toContain('is not lost');
    expect(await withDatabase(made.url, (database) => isItsKey(database, createSealer(KEY)))).toBe(true);
  } finally {
    await made.close();
  }
});

describe('a service', () => {
  let made: TestDatabase;
  beforeAll(async () => {
    made = await createTestDatabase();
  });
  afterAll(() => made.close());

  test('with another key ends with 2 and says what to do; with the right one it starts again', async () => {
    const env = { DATABASE_URL: made.url, SECRET_KEY: KEY };
    {
      await using first = await startService({ env });
      expect(await first.stop()).toBe(0);
    }
    await using wrong = await spawnService({ env: { ...env, SECRET_KEY: ANOTHER } });
    expect(await wrong.ended).toBe(2);
    expect(wrong.output()).toStartWith('SECRET_KEY is not the key that this database uses');
    expect(wrong.output()).toContain('restore the file `secret-key`');
    expect(wrong.output()).not.toContain('    at ');
    expect(wrong.output()).not.toContain(ANOTHER);
    await using again = await startService({ env });
    expect(await again.stop()).toBe(0);
  });

  test('whose workers have another key ends with 2 instead of starting them again', async () => {
    const env = { DATABASE_URL: made.url, SECRET_KEY: ANOTHER };
    await using wrong = await spawnService({ env, args: ['--workers', '2'] });
    expect(await wrong.ended).toBe(2);
    expect(wrong.output()).toContain('SECRET_KEY is not the key that this database uses');
    expect(wrong.output()).not.toContain('starts again');
  });
});

test('an embedded database whose key is lost starts with none, says what to do, and goes on once the key is replaced', async () => {
  const home = mkdtempSync(join(tmpdir(), 'posthorn-lost-key-'));
  const file = join(home, 'secret-key');
  const run = async (...args: string[]) => {
    const command = Bun.spawn([...COMMAND, ...args], {
      env: { ...process.env, DATA_DIR: home, DATABASE_URL: '', SECRET_KEY: '', PROFILE: 'development' },
      stdout: 'pipe',
      stderr: 'pipe',
    });
    const said = (await new Response(command.stdout).text()) + (await new Response(command.stderr).text());
    return { code: await command.exited, said };
  };
  try {
    {
      await using first = await startService({ dataDir: home });
      expect(await first.stop()).toBe(0);
    }
    rmSync(file);
    await using lost = await spawnService({ dataDir: home });
    expect(await lost.ended).toBe(2);
    expect(lost.output()).toStartWith(
      `There is no secret key at ${file}, though this database has been used`,
    );
    expect(lost.output()).not.toContain('    at ');
    expect(existsSync(file)).toBeFalse();

    const replaced = await run('secret-key', 'replace');
    expect([replaced.code, replaced.said]).toEqual([0, expect.stringContaining('links in earlier emails')]);
    expect((await run('secret-key', 'replace')).said).toContain('nothing was changed');
    await using again = await startService({ dataDir: home });
    expect(await run('secret-key', 'replace')).toMatchObject({ code: 1 });
    expect(await again.stop()).toBe(0);
  } finally {
    rmSync(home, { recursive: true });
  }
});

test('mail whose keys cannot be opened is put off, with that reason, and the log says so once', async () => {
  await using service = await startLiveService();
  const sealed = createSealer(ANOTHER).seal('{}', 'DKIM key of another');
  await service.service.database.query('update domain_keys set rsa = $1, ed25519 = $1', [sealed]);
  const ids = [await service.send(), await service.send(), await service.send()];
  for (const id of ids) {
    await service.until(id, ({ status }) => status === 'deferred');
    const { body } = await service.live.get(`/v1/emails/${id}/explain`);
    expect(JSON.stringify(body)).toContain('SECRET_KEY is not the one that they were sealed with');
    expect(JSON.stringify(body)).not.toContain('slot of the transport was taken');
  }
  const told = service
    .logged()
    .split('\n')
    .filter((line) => line.includes('DKIM keys of a domain cannot be opened'));
  expect(told).toHaveLength(1);
  expect(service.logged()).not.toContain('could not be prepared');
});
