import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { randomBytes } from 'node:crypto';
import postgres from 'postgres';
import { startRealService } from '../contract/real-service.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts';
import { serverUrl } from '../support/server.ts';
import { spawnService } from '../support/service.ts';
import { askEverything, expectUnavailable, healed } from './outage-world.ts';

// A server that is there and says no: to the user, to the password, to the database. It says so for hours
// where an operator has changed something, and to everybody.

const PASSWORD = 'never-to-be-shown-42';

let made: TestDatabase;
let admin: postgres.Sql;
let role: string;
let url: URL;
beforeAll(async () => {
  made = await createTestDatabase();
  admin = postgres(await serverUrl(), { max: 1, onnotice: () => {} });
  role = `posthorn_${randomBytes(4).toString('hex')}`;
  await admin.unsafe(`create role ${role} login superuser password '${PASSWORD}'`);
  url = new URL(made.url);
  url.username = role;
  url.password = PASSWORD;
});
afterAll(async () => {
  await made.close();
  await admin.unsafe(`drop role if exists ${role}`);
  await admin.end();
});

const REFUSALS: readonly (readonly [code: string, does: () => string, undoes: () => string])[] = [
  [
    '55000',
    () => `alter database ${made.name} with allow_connections false`,
    () => `alter database ${made.name} with allow_connections true`,
  ],
  [
    '3D000',
    () => `alter database ${made.name} rename to ${made.name}_away`,
    () => `alter database ${made.name}_away rename to ${made.name}`,
  ],
  ['28000', () => `alter role ${role} nologin`, () => `alter role ${role} login`],
  ['28P01', () => `alter role ${role} password 'another'`, () => `alter role ${role} password '${PASSWORD}'`],
];

describe.each(REFUSALS)('refused with %s', (code, does, undoes) => {
  const cut = () =>
    admin`select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname like ${`${made.name}%`}`;
  const refuse = async (): Promise<void> => {
    // A rename needs a database without connections; a refused client cannot come back meanwhile.
    await admin.unsafe(`alter database ${made.name} connection limit 0`);
    await admin.unsafe(`alter role ${role} nosuperuser`);
    await cut();
    await admin.unsafe(does());
    await admin.unsafe(`alter role ${role} superuser`);
    await cut();
  };
  const allow = async (): Promise<void> => {
    await admin.unsafe(undoes());
    await admin.unsafe(`alter database ${made.name} connection limit -1`);
  };

  test('everything answers 503 with Retry-After, the log names host and cause, and it heals', async () => {
    await using service = await startRealService({ DATABASE_URL: url.href });
    const key = await service.keyWith('test', ['*']);
    const unused = await service.keyWith('test', ['*']);
    await healed(service, key, made.url);
    await refuse();
    try {
      expectUnavailable(await askEverything(service, unused));
      const lines = service.logged();
      expect(lines).toContain(`at ${url.hostname}:${url.port} refuses the connection`);
      expect(lines).toContain(code);
      expect(lines).not.toContain(PASSWORD);
    } finally {
      await allow();
    }
    await healed(service, key, made.url);
  });

  test('a start ends with a sentence that names both, and never the password', async () => {
    await refuse();
    try {
      await using service = await spawnService({ env: { DATABASE_URL: url.href } });
      expect(await service.ended).toBe(1);
      expect(service.output()).toContain(`at ${url.hostname}:${url.port} refuses the connection`);
      expect(service.output()).toContain(code);
      expect(service.output()).not.toContain(PASSWORD);
    } finally {
      await allow();
    }
  });
});

test('a start without a listening server names host and cause', async () => {
  const nobody = new URL(url);
  nobody.port = '1';
  await using service = await spawnService({ env: { DATABASE_URL: nobody.href } });
  expect(await service.ended).toBe(1);
  expect(service.output()).toMatch(/at 127\.0\.0\.1:1 cannot be reached \(.*ECONNREFUSED/);
  expect(service.output()).not.toContain(PASSWORD);
});
