import { expect, test } from 'bun:test';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import postgres from 'postgres';
import { preferencesPath } from '../../src/audience/preferences/links.ts';
import {
  newSecretKey,
  nextSecretKeyFile,
  secretKeyFile,
  writeNextSecretKey,
} from '../../src/platform/config/secret-key.ts';
import { createSealer } from '../../src/platform/crypto/sealer.ts';
import { secretKeyOf } from '../../src/platform/crypto/secret-key.ts';
import { createSigner } from '../../src/platform/crypto/signer.ts';
import { readKeys, turnTo } from '../../src/platform/db/canary.ts';
import { openDatabase } from '../../src/platform/db/open.ts';
import { databaseOfOldKey, NEW, OLD, PURPOSE, sealedOfOld } from '../support/bound-database.ts';
import { createClient } from '../support/client.ts';
import { command } from '../support/command.ts';
import { eventually } from '../support/eventually.ts';
import { COMMAND, LIVE_KEY, type Service, startService } from '../support/service.ts';

// A rotation of the secret key that is killed, under instances that serve and are killed;
// tests/contract/rotated-secret-key.test.ts looks at everything that is sealed.

/** So many that a rotation is killed in the middle of them. */
const MANY = 20_000;

const mark = (key: string): string => `sealed:2:${secretKeyOf(key).id}:`;

/**
 * Makes an API key; asked again with the same name, on any instance, its secret comes out of the stored
 * reply.
 */
const keyNamed = async ({ url }: Pick<Service, 'url'>, name: string): Promise<string> => {
  const body = { name, env: 'test', permissions: ['emails:read'] };
  const told = await createClient(url, LIVE_KEY).post('/v1/api-keys', body, { 'idempotency-key': name });
  if (told.status !== 201) throw new Error(JSON.stringify(told.body));
  return told.body.data.key;
};

test('a rotation that is killed again and again goes on, while two instances serve and one of them dies', async () => {
  await using made = await databaseOfOldKey();
  const { database } = made;
  await using stack = new AsyncDisposableStack();
  for (let from = 0; from < MANY; from += 2_000) {
    const rows = Array.from({ length: 2_000 }, (_, n) => ({
      id: `id${from + n}`,
      sealed: sealedOfOld(`${from + n}@a.example`),
    }));
    await database.query(
      `insert into ses_removals (id, sealed, attempts, next_at)
       select id, sealed, 0, now() + interval '1 day' from json_to_recordset($1::text::json) as r(id text, sealed text)`,
      [JSON.stringify(rows)],
    );
  }
  const settings = { DATABASE_URL: made.url, RATE_LIMIT_PER_IP: '0', RATE_LIMIT_PER_KEY: '0' };
  const both = { ...settings, SECRET_KEY: NEW, SECRET_KEY_PREVIOUS: OLD };
  const first = stack.use(await startService({ env: both }));
  const [row] = await database.query<{ id: string }>('select id from service_instances');
  const second = stack.use(await startService({ env: both }));
  const sealed = await keyNamed(first, 'before');

  const left = async (): Promise<number> => {
    const [row] = await database.query<{ left: number }>(
      'select count(*)::int as "left" from ses_removals where not starts_with(sealed, $1)',
      [mark(NEW)],
    );
    return row?.left ?? 0;
  };
  const locker = postgres(made.url, { max: 1, onnotice: () => {} });
  stack.defer(() => locker.end({ timeout: 1 }));
  /**
   * Kills the command once it has sealed some of what is left. It cannot seal the last rows meanwhile, so
   * that no command is over before it is killed.
   */
  const killedBefore = async (lastRows: string): Promise<void> => {
    await locker`begin`;
    await locker`select id from ses_removals where id >= ${lastRows} for update`;
    const begin = await left();
    const child = Bun.spawn([...COMMAND, 'secret-key', 'rotate'], {
      env: { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '', ...both },
      stdout: 'ignore',
      stderr: 'ignore',
    });
    await eventually(
      'some are sealed with the new key',
      async () => ((await left()) < begin ? true : undefined),
      {
        everyMs: 20,
      },
    );
    child.kill('SIGKILL');
    await child.exited;
    await locker`rollback`;
  };
  await killedBefore('id5');
  expect(await left()).toBeGreaterThan(0);
  await first.kill();
  // As half a minute would: until then it counts as one that may seal with the key before.
  await database.query('delete from service_instances where id = $1', [row?.id ?? '']);
  // An instance that starts now needs the new key alone: the database has the other one.
  const third = stack.use(await startService({ env: { ...settings, SECRET_KEY: NEW } }));
  expect(await keyNamed(third, 'before')).toBe(sealed);
  const during = await keyNamed(second, 'during');
  expect(await keyNamed(third, 'during')).toBe(during);
  await killedBefore('id9');
  const doctor = await command(both, 'doctor');
  expect(doctor.out).toMatch(
    /! Secret key: A rotation that began at \S+ is unfinished: [\d,]+ texts are still sealed/,
  );

  const told = await command(both, 'secret-key', 'rotate');
  expect([told.code, told.out]).toEqual([
    0,
    expect.stringContaining('No secret is sealed with the previous key any more'),
  ]);
  expect(await left()).toBe(0);
  expect((await command(both, 'doctor')).out).toContain('✓ Secret key: ');
  const opener = createSealer(NEW);
  const stored = await database.query<{ id: string; sealed: string }>('select id, sealed from ses_removals');
  expect(
    stored.filter((row) => `id${opener.open(row.sealed, PURPOSE)}` === `${row.id}@a.example`),
  ).toHaveLength(MANY);
  expect(await keyNamed(third, 'during')).toBe(during);
  expect(await keyNamed(second, 'before')).toBe(sealed);
  expect(first.output() + second.output() + third.output()).not.toMatch(/the-key-of-|SealedWithAnotherKey/);
});

test('the key in the data directory is rotated through the service on the embedded database, and at any moment of a kill one key is right', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'posthorn-rotation-'));
  const run = (...words: string[]) => command({ DATA_DIR: dataDir, DNS_SERVERS: '127.0.0.1:9' }, ...words);
  const key = () => readFileSync(secretKeyFile(dataDir), 'utf8');
  /** A link that the first key of all has signed. */
  const opens = async ({ url }: Service): Promise<number> => {
    const workspaceId: string = (await createClient(url, LIVE_KEY).get('/v1/workspace')).body.data.id;
    const person = { workspaceId, livemode: true, key: 'a@a.example' };
    return (await fetch(url + preferencesPath(createSigner(oldest), person))).status;
  };
  let oldest = '';
  try {
    let secret: string;
    {
      await using service = await startService({ dataDir });
      oldest = key();
      secret = await keyNamed(service, 'before');
      const told = await run('secret-key', 'rotate');
      expect([told.code, told.out]).toEqual([
        0,
        expect.stringContaining(`The new key is in ${dataDir}/secret-key`),
      ]);
      expect([key() === oldest, existsSync(nextSecretKeyFile(dataDir))]).toEqual([false, false]);
      expect(await keyNamed(service, 'before')).toBe(secret);
      expect(await opens(service)).toBe(200);
      // Twice: keys of before are found through one another.
      expect((await run('secret-key', 'rotate')).code).toBe(0);
      expect(await opens(service)).toBe(200);
      await service.kill();
    }
    // Killed before the database is used with the new key: the one of now goes on, and the new one is used
    // next time.
    const now = key();
    const next = await writeNextSecretKey(dataDir, newSecretKey());
    {
      await using service = await startService({ dataDir });
      expect([key(), await keyNamed(service, 'before')]).toEqual([now, secret]);
      expect((await run('doctor')).out).toContain('! Secret key: A rotation to another key has begun');
      await service.kill();
    }
    // Killed before the new key was put into its place: the next start does so.
    const database = await openDatabase({ url: null, dataDir });
    try {
      const keys = await readKeys(database, [now]);
      if (!keys) throw new Error('The database has no key.');
      expect(await turnTo(database, keys, secretKeyOf(next))).toBeTrue();
      expect(await turnTo(database, keys, secretKeyOf(next))).toBeFalse();
    } finally {
      await database.close();
    }
    await using service = await startService({ dataDir });
    expect([key(), existsSync(nextSecretKeyFile(dataDir))]).toEqual([next, false]);
    expect(await keyNamed(service, 'before')).toBe(secret);
    expect((await run('doctor')).out).toContain('is unfinished: ');
    expect(await run('secret-key', 'rotate')).toMatchObject({ code: 0 });
    expect(key()).toBe(next);
    expect((await run('doctor')).out).toContain('✓ Secret key: ');
    expect([await keyNamed(service, 'before'), await opens(service)]).toEqual([secret, 200]);
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
});
