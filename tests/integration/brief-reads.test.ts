import { expect, test } from 'bun:test';
import { sql } from 'drizzle-orm';
import { PostgresDatabase } from '../../src/platform/db/server/postgres.ts';
import { codeOf } from '../../src/platform/db/sqlstate.ts';
import { UnavailableError } from '../../src/platform/errors/unavailable.ts';
import { createTestDatabase } from '../support/postgres.ts';

test('the server ends a brief read after a second, and other reads go on', async () => {
  await using made = await createTestDatabase();
  const database = await PostgresDatabase.open(made.url);
  try {
    // The server says how long it gives each: the brief one does not end by the deadline of this process.
    const given = async (isBrief: boolean): Promise<unknown> => {
      const rows = await database.read((orm) => orm.execute(sql`show statement_timeout`), { isBrief });
      return (rows as { statement_timeout: string }[])[0]?.statement_timeout;
    };
    expect(await given(true)).toBe('1s');
    expect(await given(false)).not.toBe('1s');
    const refused = await database
      .read((orm) => orm.execute(sql`select pg_sleep(60)`), { isBrief: true })
      .then(
        () => null,
        (error: unknown) => error,
      );
    expect(refused).toBeInstanceOf(UnavailableError);
    expect(codeOf(refused)).toBe('57014');
  } finally {
    await database.close();
  }
});
