import { afterAll, beforeAll, expect, test } from 'bun:test';
import { actorReader, ownActorReader } from '../../src/engine/store/actors.ts';
import { emailKind } from '../../src/sending/emails/kind.ts';
import {
  accepted,
  emailSpawn,
  engineOver,
  ManualClock,
  opened,
  plainInput,
  postgresStore,
  rowsOf,
  type Store,
  WORKSPACE,
} from '../support/engine.ts';

const NOW = Date.parse('2026-11-20T12:00:00.123Z');
let store: Store;
beforeAll(async () => {
  store = await postgresStore();
});
afterAll(() => store?.[Symbol.asyncDispose]());

test('an email is read by the engine as the view shows it, whatever it has been through', async () => {
  const { database } = store;
  const engine = engineOver(database, { clock: new ManualClock(NOW) });
  const inserted = (more: Parameters<typeof plainInput>[1]) => emailSpawn(plainInput(NOW, more));
  const [immediate, scheduled] = [inserted({}), inserted({ scheduledAt: NOW + 86_400_000 })];
  const [sent, seen, deferred] = [inserted({}), inserted({}), inserted({})];
  const all = [immediate, scheduled, sent, seen, deferred];
  await Promise.all(all.map((one) => engine.spawn('email', one)));
  await Promise.all([sent, seen].map(({ id }) => engine.tell('email', id, accepted(NOW + 1))));
  await engine.tell('email', seen.id, opened(NOW + 2));
  await engine.tell('email', seen.id, opened(NOW + 3));
  await engine.tell('email', deferred.id, {
    type: 'attempt.completed',
    at: NOW + 1,
    attempt: 1,
    outcomes: [{ recipient: 0, outcome: 'deferred', data: {} }],
  });
  const ids = all.map(({ id }) => id);
  const shown = await rowsOf<{ id: string }>(
    database,
    'select id, workspace_id, livemode, state, context, timers, revision, machine_version from emails_now where id = any($1)',
    [ids],
  );
  const byId = (one: { readonly id: string }, other: { readonly id: string }) =>
    one.id.localeCompare(other.id);
  expect(new Set(shown.map((row) => (row as { state?: string }).state)).size).toBeGreaterThan(2);
  for (const read of [actorReader(database, emailKind), ownActorReader(database, emailKind, WORKSPACE)])
    expect((await read(ids)).toSorted(byId)).toEqual(shown.toSorted(byId) as never);
  await engine.stop();
});
