import { expect, test } from 'bun:test';
import { rotate } from '../../src/ops/rotation/rotate.ts';
import { secretKeyOf } from '../../src/platform/crypto/secret-key.ts';
import { databaseOfOldKey, NEW, OLD, sealedOfOld } from '../support/bound-database.ts';
import { HookedDatabase } from '../support/engine-faults.ts';

test('a rotation finds what an instance sealed just before it went over and stored just afterwards', async () => {
  await using bound = await databaseOfOldKey();
  const { database } = bound;
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
    await database.query(
      `insert into ses_removals (id, sealed, attempts, next_at) values ('late', $1, 0, now() + interval '1 day')`,
      [sealedOfOld('a@a.example')],
    );
  };
  const source = { secretKey: NEW, secretKeyPrevious: OLD, dataDir: '/nowhere' };
  const told = await rotate(hooked, source, { waiting() {}, turned() {}, resealed() {} });
  expect(told.outcome).toBe('done');
  const [row] = await database.query<{ sealed: string }>('select sealed from ses_removals');
  expect(row?.sealed).toStartWith(`sealed:2:${id}:`);
});
