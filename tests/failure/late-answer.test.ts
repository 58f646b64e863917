import { afterAll, beforeAll, expect, test } from 'bun:test';
import postgres from 'postgres';
import { eventually } from '../support/eventually.ts';
import { openWorld, type World } from '../support/webhook-world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world[Symbol.asyncDispose]());

const EMAIL = { from: 'a@acme.example', to: 'delivered@simulator.svc.test', text: 'Hello' };

const stored = async (subject: string): Promise<number> => {
  const { body } = await world.test.get(`/v1/emails?subject=${encodeURIComponent(subject)}`);
  return body.data.length;
};

test('a database that stalls past the deadline: 503, and the same Idempotency-Key tells what was done', async () => {
  await world.send();
  const key = { 'idempotency-key': crypto.randomUUID() };
  const keyed = { ...EMAIL, subject: 'With a key' };
  const sql = postgres(world.databaseUrl, { max: 1, onnotice: () => {} });
  const stall = Promise.withResolvers<void>();
  const stalling = sql.begin(async (locked) => {
    await locked.unsafe('lock table emails in access exclusive mode');
    await stall.promise;
  });
  await eventually('the lock', async () => {
    const rows = await world.service.database.query(
      `select 1 as one from pg_locks where relation = 'emails'::regclass and mode = 'AccessExclusiveLock' and granted`,
    );
    return rows.length > 0 ? true : undefined;
  });
  const [withKey, without] = await Promise.all([
    world.test.post('/v1/emails', keyed, key),
    world.test.post('/v1/emails', { ...EMAIL, subject: 'Without one' }),
  ]);
  stall.resolve();
  await stalling;
  await sql.end();
  for (const { status, body, headers } of [withKey, without]) {
    expect([status, body.error.code]).toEqual([503, 'SERVICE_UNAVAILABLE']);
    expect(body.error.message).toBe(
      'The service did not learn in time whether this was done. It may have been.',
    );
    expect(headers.get('retry-after')).toMatch(/^\d+$/);
  }
  expect(withKey.body.error.suggestion).toContain('with the same Idempotency-Key');
  expect(without.body.error.suggestion).toStartWith('Look whether it was done');

  const told = await eventually('an answer', async () => {
    const reply = await world.test.post('/v1/emails', keyed, key);
    return reply.status === 202 ? reply : undefined;
  });
  const again = await world.test.post('/v1/emails', keyed, key);
  expect([again.status, again.body.data.id]).toEqual([202, told.body.data.id]);
  expect(await stored('With a key')).toBe(1);
  expect(await stored('Without one')).toBeLessThanOrEqual(1);
}, 40_000);
