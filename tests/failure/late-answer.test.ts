import { afterAll, beforeAll, expect, test } from 'bun:test';
import { StatementRelay } from '../support/engine-relay.ts';
import { eventually } from '../support/eventually.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts';
import { openWorld, type World } from '../support/webhook-world.ts';

let database: TestDatabase;
let relay: StatementRelay;
let world: World;
beforeAll(async () => {
  database = await createTestDatabase();
  relay = await StatementRelay.to(database.url);
  world = await openWorld({ databaseUrl: relay.url });
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
  await relay[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

/** A text that only the statement of an acceptance has. */
const ACCEPTANCE = '["spawned"';
const EMAIL = { from: 'a@acme.example', to: 'delivered@simulator.svc.test', text: 'Hello' };

const stored = async (subject: string): Promise<number> => {
  const { body } = await world.test.get(`/v1/emails?subject=${encodeURIComponent(subject)}`);
  return body.data.length;
};

test('a database that stalls past the deadline: 503, and the same Idempotency-Key tells what was done', async () => {
  await world.send();
  const key = { 'idempotency-key': crypto.randomUUID() };
  const keyed = { ...EMAIL, subject: 'With a key' };
  /**
   * The acceptance reaches PostgreSQL only after its client was answered, and until then nothing else does.
   */
  const late = async (email: object, headers?: Record<string, string>) => {
    const struck = relay.trap(ACCEPTANCE, 'delay it', async () => relay.freeze());
    const reply = await world.test.post('/v1/emails', email, headers);
    await struck;
    await relay.release();
    relay.thaw({ dead: true });
    await eventually('the database is back', async () =>
      (await world.test.get('/v1/emails?limit=1')).status === 200 ? true : undefined,
    );
    return reply;
  };
  const withKey = await late(keyed, key);
  const without = await late({ ...EMAIL, subject: 'Without one' });
  for (const { status, body, headers } of [withKey, without]) {
    expect([status, body.error.code]).toEqual([503, 'SERVICE_UNAVAILABLE']);
    expect(body.error.message).toBe(
      'The database did not confirm the change in time. It may have been made.',
    );
    expect(headers.get('retry-after')).toMatch(/^\d+$/);
  }
  expect(withKey.body.error.suggestion).toContain('with the same Idempotency-Key');
  expect(without.body.error.suggestion).toStartWith('Check whether it was done');

  const told = await eventually('an answer', async () => {
    const reply = await world.test.post('/v1/emails', keyed, key);
    return reply.status === 202 ? reply : undefined;
  });
  const again = await world.test.post('/v1/emails', keyed, key);
  expect([again.status, again.body.data.id]).toEqual([202, told.body.data.id]);
  expect(await stored('With a key')).toBe(1);
  expect(await stored('Without one')).toBe(1);
});
