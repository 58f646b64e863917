import { expect, test } from 'bun:test';
import { exitCodeOf, explain } from '../../src/ops/commands/explain.ts';
import { diagnoseConnection } from '../../src/ops/doctor/database/database.ts';
import type { Database } from '../../src/platform/db/database.ts';
import { migrate } from '../../src/platform/db/migrate.ts';
import { OldServer, problemOfVersion } from '../../src/platform/db/server-version.ts';

/** A server that says its version, and that fails a test which asks it for anything else. */
const serverOf = (version: number) =>
  ({
    kind: 'postgres',
    ping: async () => {},
    query: async (sql: string) => {
      if (!sql.includes('server_version_num')) throw new Error(`Asked: ${sql}`);
      return [{ version }];
    },
    script: async (sql: string) => {
      throw new Error(`Changed: ${sql}`);
    },
  }) as unknown as Database;

test.each([
  [90_624, '9.6.24'],
  [100_023, '10.23'],
  [130_023, '13.23'],
  [140_023, '14.23'],
  [149_999, '14.9999'],
])('a server of %d is refused in a sentence, and nothing is changed in it', async (version, name) => {
  const says = `The server runs PostgreSQL ${name}. Posthorn needs PostgreSQL 15 or later.`;
  expect(problemOfVersion(version)).toBe(says);
  const refused = await migrate(serverOf(version)).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(OldServer);
  expect(explain(refused)).toMatch(/^The server runs [^\n]+ Upgrade the server [^\n]+\n$/);
  expect(exitCodeOf(refused)).toBe(2);
  expect(await diagnoseConnection(serverOf(version))).toMatchObject({ status: 'wrong', detail: says });
});

test.each([150_000, 150_018, 160_014, 170_010, 180_004, 190_000])(
  'a server of %d is taken',
  async (version) => {
    expect(problemOfVersion(version)).toBeNull();
    expect(await diagnoseConnection(serverOf(version))).toMatchObject({
      status: 'fine',
      detail: expect.stringContaining(`PostgreSQL ${(version / 10_000) | 0}, `),
    });
  },
);
