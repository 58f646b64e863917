import { expect, test } from 'bun:test';
import { createSealer } from '../../src/crypto/sealer.ts';
import { secretKeyOf } from '../../src/crypto/secret-key.ts';
import { bindToKey } from '../../src/db/canary.ts';
import { migrate } from '../../src/db/migrate.ts';
import { openDatabase } from '../../src/db/open.ts';
import { rotate } from '../../src/rotation/rotate.ts';
import { HookedDatabase } from '../support/engine-faults.ts';
import { createTestDatabase } from '../support/postgres.ts';

const OLD = 'the-key-of-before-the-key-of-before-it';
const NEW = 'the-key-of-now-the-key-of-now-and-after';

test('a rotation finds what an instance sealed just before it went over and stored just afterwards', async () => {
  await using made = await createTestDatabase();
  const database = await openDatabase({ url: made.url, dataDir: null });
  await using stack = new AsyncDisposableStack();
  stack.defer(() => database.close());
  await migrate(database);
  await bindToKey(database, [OLD]);
  const { id } = secretKeyOf(NEW);
  // It is seen for as long as an instance may be.
  await database.query(
    `insert into service_instances (id, roles, seen_at, secret_keys, seals_with)
     values ('one', '{http}', clock_timestamp() + interval '30 s', $1, $2)`,
    [[id, secretKeyOf(OLD).id], id],
  );
  const hooked = new HookedDatabase(database);
  let looks = 0;
  hooked.before = async (text) => {
    // The first look is taken while instances go over, and the second once all have.
    if (!text.includes('as sealed from ses_removals') || ++looks !== 3) return;
    const late = createSealer(OLD).seal('a@a.example', 'a suppression that was removed');
    await database.query(
      `insert into ses_removals (id, sealed, attempts, next_at) values ('late', $1, 0, now() + interval '1 day')`,
      [late],
    );
  };
  const source = { secretKey: NEW, secretKeyPrevious: OLD, dataDir: '/nowhere' };
  const told = await rotate(hooked, source, { waiting() {}, turned() {}, resealed() {} });
  expect(told.outcome).toBe('done');
  const [row] = await database.query<{ sealed: string }>('select sealed from ses_removals');
  expect(row?.sealed).toStartWith(`sealed:2:${id}:`);
});
