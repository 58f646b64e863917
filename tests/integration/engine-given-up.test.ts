import { afterAll, beforeAll, expect, test } from 'bun:test';
import { UnavailableError } from '../../src/platform/errors/unavailable.ts';
import {
  accepted,
  emailSpawn,
  engineOver,
  plainInput,
  postgresStore,
  rowsOf,
  type Store,
} from '../support/engine.ts';
import { HookedDatabase } from '../support/engine-faults.ts';

const NOW = Date.parse('2026-11-20T12:00:00.000Z');

let store: Store;
beforeAll(async () => {
  store = await postgresStore();
});
afterAll(() => store[Symbol.asyncDispose]());

test('what waits for the database when its client gets 503 is not written; what was handed over is', async () => {
  const database = new HookedDatabase(store.database);
  const engine = engineOver(database);
  const release = database.hold();
  let isGivenUp = false;
  const insert = () => ({ ...emailSpawn(plainInput(NOW)), isGivenUp: () => isGivenUp });
  const handedOver = insert();
  const first = engine.spawn('email', handedOver);
  await release.isAsked;
  const inserts = Array.from({ length: 40 }, insert);
  const waiting = inserts.map((each) => engine.spawn('email', each).catch((error: unknown) => error));
  const heard = emailSpawn(plainInput(NOW));
  const written = engine.spawn('email', heard);
  isGivenUp = true;
  release();
  await Promise.all([first, written]);
  const outcomes = await Promise.all(waiting);
  expect(await rowsOf(store.database, 'select id from emails where id = $1', [handedOver.id])).toHaveLength(
    1,
  );
  expect(await rowsOf(store.database, 'select id from emails where id = $1', [heard.id])).toHaveLength(1);
  const refused = inserts.filter((_, index) => outcomes[index] instanceof UnavailableError);
  // One more batch may have been under way.
  expect(refused.length).toBeGreaterThan(0);
  for (const [index, each] of inserts.entries()) {
    const outcome = outcomes[index];
    const isThere =
      (await rowsOf(store.database, 'select id from emails where id = $1', [each.id])).length === 1;
    expect(isThere).toBe(!(outcome instanceof UnavailableError));
    if (outcome instanceof UnavailableError) expect(outcome.applied).toBe('no');
  }
});

test.each([
  [7_000, [] as boolean[]],
  [7_001, [true, true]],
])('what has waited for %d ms is refused: %p', async (waited, refusals) => {
  let passed = 0;
  const engine = engineOver(store.database, { clock: { now: () => NOW, monotonic: () => passed } });
  const there = emailSpawn(plainInput(NOW));
  await engine.spawn('email', there);
  // Both are begun in the next turn of the event loop.
  const waiting = Promise.allSettled([
    engine.spawn('email', emailSpawn(plainInput(NOW))),
    engine.tell('email', there.id, accepted(NOW)),
  ]);
  passed = waited;
  const failures = (await waiting).flatMap((each) => (each.status === 'rejected' ? [each.reason] : []));
  expect(failures.map((error) => error instanceof UnavailableError && error.applied === 'no')).toEqual(
    refusals,
  );
});
