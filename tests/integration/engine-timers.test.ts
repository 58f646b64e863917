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
  const inserts = Array.from({ length: EMAILS }, () =>
    emailSpawn(plainInput(NOW, { scheduledAt: NOW + 1_000, leaseMs: LEASE_MS })),
  );
  await Promise.all(inserts.map((insert) => engine.spawn('email', insert)));
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
  expect([...attempts.values()]).toEqual(inserts.map(() => [1]));
  expect(await rowsOf(store.database, 'select distinct state from emails_now')).toEqual([{ state: 'sent' }]);
});

test('an email that another instance has queued since it was claimed keeps a timer', async () => {
  const quick = engineOver(store.database, { clock: new ManualClock(NOW + 500) });
  const email = emailSpawn(plainInput(NOW, { livemode: true, scheduledAt: NOW + 500 }));
  await quick.spawn('email', email);
  const database = new HookedDatabase(store.database);
  const clock = new ManualClock(NOW + 2_000);
  const slow = engineOver(database, { clock });
  const [deciding, queued] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  database.before = (text) => {
    if (!text.includes('insert into email_turns')) return undefined;
    deciding.resolve();
    return queued.promise;
  };
  const waking = slow.wakeDue();
  await deciding.promise;
  await quick.fireTimers('email', { id: email.id }, NOW + 500);
  queued.resolve();
  await waking;
  // By the time of the slow one the turn of the queued email has come as well. Its order may be lost with the
  // process.
  expect(
    await rowsOf(store.database, 'select state, revision, timers, wake_at from emails_now where id = $1', [
      email.id,
    ]),
  ).toEqual([
    {
      state: 'queued',
      revision: 3,
      timers: { 'xstate.after.turn.email.queued': clock.time + 1_000 },
      wake_at: new Date(clock.time + 1_000),
    },
  ]);
  for (const engine of [quick, slow]) await engine.stop();
});
