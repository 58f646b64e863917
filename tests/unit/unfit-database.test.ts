import { expect, test } from 'bun:test';
import { randomBytes } from 'node:crypto';
import postgres from 'postgres';
import { migrate } from '../../src/platform/db/migrate.ts';
import { type Fitness, problemOfFitness, refuseUnfit } from '../../src/platform/db/server-version.ts';
import { postgresStore } from '../support/engine.ts';

const FIT: Fitness = {
  encoding: 'UTF8',
  isInUse: false,
  database: 'posthorn',
  role: 'ada',
  schema: 'public',
  mayCreate: true,
  foreignOwner: null,
};

test.each([
  ['fit', {}, null],
  ['in bytes without an encoding, before its first use', { encoding: 'SQL_ASCII' }, 'needs UTF8'],
  ['in bytes without an encoding, in use', { encoding: 'SQL_ASCII', isInUse: true }, null],
  ['in an encoding without most letters', { encoding: 'LATIN1', isInUse: true }, 'needs UTF8'],
  ['without a schema', { schema: null, mayCreate: false }, 'alter role ada reset search_path'],
  [
    'restored without its owner',
    { foreignOwner: 'postgres', isInUse: true },
    'belong to postgres, and the role ada may not read them: restore the dump into an empty database as ada',
  ],
  ['of another owner', { mayCreate: false }, 'grant usage, create on schema public to ada.'],
])('a database that is %s', (_, differs, remedy) => {
  const problem = problemOfFitness({ ...FIT, ...differs });
  if (remedy === null) expect(problem).toBeNull();
  else expect(problem).toContain(remedy);
});

test('a start names tables that the role may not read, and their owner', async () => {
  await using store = await postgresStore();
  await refuseUnfit(store.database);
  const role = `stranger_${randomBytes(4).toString('hex')}`;
  const sql = postgres(store.url ?? '', { max: 1, onnotice: () => {} });
  try {
    await sql.unsafe(`create role ${role}; set role ${role}`);
    const asStranger = { query: (text: string) => sql.unsafe(text) } as never;
    await expect(migrate(asStranger)).rejects.toThrow(
      /belong to \w+, and the role stranger_\w+ may not read them/,
    );
  } finally {
    await sql.unsafe(`reset role; drop role ${role}`);
    await sql.end();
  }
});
