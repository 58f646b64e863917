import { afterAll, beforeAll, expect, test } from 'bun:test';
import {
  accepted,
  emailSpawn,
  engineOver,
  ManualClock,
  plainInput,
  postgresStore,
  rowsOf,
  type Store,
} from '../support/engine.ts';
import { HookedDatabase } from '../support/engine-faults.ts';
import { eventually } from '../support/eventually.ts';

const NOW = Date.parse('2026-11-20T12:00:00.000Z');
const LEASE_MS = 10_000;
/** Emails of which each lane has some. */
const EMAILS = 16;

let store: Store;
beforeAll(async () => {
  store = await postgresStore();
});
afterAll(() => store?.[Symbol.asyncDispose]());

test('a lease that ends while outcomes wait to be written overtakes none of them', async () => {
  const database = new HookedDatabase(store.database);
  const clock = new ManualClock(NOW);
  const attempts = new Map<string, number[]>();
  const [outcomes, written] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const engine = engineOver(database, {
    clock,
    performer: {
      slots: 1_000,
      backlog: 4_000,
      perform: async ({ actor: { id, snapshot } }) => {
        const { attempt } = snapshot.context as { readonly attempt: number };
        attempts.set(id, [...(attempts.get(id) ?? []), attempt]);
        await outcomes.promise;
        return [accepted(clock.now(), attempt)];
      },
    },
  });
  const births = Array.from({ length: EMAILS }, () =>
    emailSpawn(plainInput(NOW, { scheduledAt: NOW + 1_000, leaseMs: LEASE_MS })),
  );
  await Promise.all(births.map((birth) => engine.spawn('email', birth)));
  clock.time = NOW + 1_500;
  await engine.wakeDue();
  expect(attempts.size).toBe(EMAILS);

  let held = 0;
  database.before = (text, parameters) => {
    const isOutcome =
      text.includes('insert into email_turns') && JSON.stringify(parameters).includes('attempt.completed');
    if (!isOutcome) return undefined;
    held++;
    return written.promise;
  };
  outcomes.resolve();
  await eventually('outcomes are being written', async () => (held > 0 ? true : undefined));
  clock.time += LEASE_MS + 500;
  const waking = engine.wakeDue();
  await eventually('the leases are claimed', async () => {
    const moved = await rowsOf(store.database, 'select from email_due where wake_at > $1', [
      new Date(clock.time).toISOString(),
    ]);
    return moved.length === EMAILS ? true : undefined;
  });
  written.resolve();
  await waking;
  await engine.stop();
  expect([...attempts.values()]).toEqual(births.map(() => [1]));
  expect(await rowsOf(store.database, 'select distinct state from emails_now')).toEqual([{ state: 'sent' }]);
});
