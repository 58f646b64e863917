import { beforeAll, expect, test } from 'bun:test';
import type { EmailEvent } from '../../machines/email/context.ts';
import type { Claim } from '../../src/engine/machine/result.ts';
import type { Database } from '../../src/platform/db/database.ts';
import { isDuplicate } from '../../src/platform/db/sqlstate.ts';
import { emailSpawn, engineOver, ManualClock, plainInput } from '../support/engine.ts';
import { onEachStore } from '../support/shared-store.ts';

// Not every duplicate is a race for an idempotency key: one of another kind ends as what it is, and at once.

const NOW = Date.parse('2026-11-20T12:00:00.000Z');
const HOUR = 3_600_000;
const ONCE = { workspaceId: 'ws_once', livemode: false };

const claim = (key: string): Claim => ({
  key,
  scope: ONCE,
  fingerprint: 'same',
  status: 202,
  reply: (state) => JSON.stringify({ state }),
});

const scheduled = (scheduledAt: number, key?: string) =>
  emailSpawn(plainInput(NOW, { scheduledAt }), {
    ...ONCE,
    ...(key !== undefined && { claim: claim(key) }),
  });

const moved = (scheduledAt: number): EmailEvent =>
  ({ type: 'reschedule.requested', at: NOW, scheduledAt }) as EmailEvent;

const errorOf = async (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => null,
    (error: unknown) => error,
  );

/** The same database, which counts how often something is written with a key. */
function counting(database: Database): { readonly database: Database; writes(): number } {
  let writes = 0;
  const counted: Database = {
    kind: database.kind,
    refusedWrite: null,
    worked: 0,
    query: (text, ...more) => {
      if (text.includes('insert into idempotency_keys')) writes++;
      return database.query(text, ...more);
    },
    script: (text) => database.script(text),
    read: (run) => database.read(run),
    session: () => database.session(),
    ping: () => database.ping(),
    close: () => database.close(),
  };
  return { database: counted, writes: () => writes };
}

onEachStore('a unique violation in the engine', (store) => {
  const clock = new ManualClock(NOW);
  beforeAll(() =>
    store.database.script(
      `create unique index one_at_a_time on email_due (wake_at) where workspace_id = 'ws_once'`,
    ),
  );

  test('is distinguished by the constraint that it violates', async () => {
    const { database } = store;
    await database.query(
      `insert into idempotency_keys values ('ws_once', false, 'told apart', '', 202, '', now())`,
    );
    const error = await errorOf(
      database.query(
        `insert into idempotency_keys values ('ws_once', false, 'told apart', '', 202, '', now())`,
      ),
    );
    expect(isDuplicate(error)).toBe(true);
    expect(isDuplicate(error, 'idempotency_keys_pkey')).toBe(true);
    expect(isDuplicate(error, 'one_at_a_time')).toBe(false);
    const other = await errorOf(database.query('select 1 / 0'));
    expect(isDuplicate(other)).toBe(false);
  });

  test('of an actor that is inserted with a key is its own error after a second look', async () => {
    const { database, writes } = counting(store.database);
    const engine = engineOver(database, { clock });
    await engine.spawn('email', scheduled(NOW + HOUR));
    const before = writes();
    const error = await errorOf(engine.spawn('email', scheduled(NOW + HOUR, 'k-inserted')));
    expect(isDuplicate(error, 'one_at_a_time')).toBe(true);
    expect(writes() - before).toBe(2);
  });

  test('of an event with a key is its own error after a second look', async () => {
    const { database, writes } = counting(store.database);
    const engine = engineOver(database, { clock });
    const [first, second] = [scheduled(NOW + 2 * HOUR), scheduled(NOW + 3 * HOUR)];
    await engine.spawn('email', first);
    await engine.spawn('email', second);
    const before = writes();
    const error = await errorOf(
      engine.tell('email', second.id, moved(NOW + 2 * HOUR), { claim: claim('k-moved') }),
    );
    expect(isDuplicate(error, 'one_at_a_time')).toBe(true);
    expect(writes() - before).toBe(2);
  });

  test('that the first call with the same key has made is answered with its reply', async () => {
    const first = engineOver(store.database, { clock });
    let raced = false;
    // Another instance is through with the same call after this one has looked for its key.
    const late: Database = {
      ...counting(store.database).database,
      query: async (text, ...more) => {
        if (text.includes('insert into idempotency_keys') && !raced) {
          raced = true;
          await first.spawn('email', scheduled(NOW + 4 * HOUR, 'k-raced'));
          // The key of a domain's name in an addition; the key itself is not seen in this statement.
          throw Object.assign(new Error('duplicate'), { code: '23505', constraint: 'one_at_a_time' });
        }
        return store.database.query(text, ...more);
      },
    };
    const spawned = await engineOver(late, { clock }).spawn('email', scheduled(NOW + 4 * HOUR, 'k-raced'));
    expect(spawned).toMatchObject({ outcome: 'replayed', reply: '{"state":"scheduled"}' });
  });
});
