import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import postgres from 'postgres';
import type { Engine } from '../../src/engine/engine.ts';
import type { Clock } from '../../src/platform/time/clock.ts';
import {
  countOf,
  emailSpawn,
  embeddedStore,
  engineOver,
  plainInput,
  postgresStore,
  rowsOf,
  type Store,
} from '../support/engine.ts';

// The sweeps forget what lies behind them. That is right only as long as no transaction can write there.

/** The database's own clock, as on this machine; the monotonic one goes on by a second at each look. */
function sharedClock(): Clock & { passes(): void } {
  let monotonic = 0;
  return {
    now: () => Date.now(),
    monotonic: () => monotonic,
    agreement: { skewMs: 0, machineSkewMs: 0, agrees: true },
    passes: () => {
      monotonic += 1_000;
    },
  };
}

const spawned = async (engine: Engine, at: number): Promise<string> => {
  const birth = emailSpawn(plainInput(at));
  expect((await engine.spawn('email', birth)).outcome).toBe('spawned');
  return birth.id;
};

for (const [name, makeStore] of Object.entries({ PGlite: embeddedStore, PostgreSQL: postgresStore }))
  describe(`what is due on ${name}`, () => {
    let store: Store;
    beforeAll(async () => {
      store = await makeStore();
    });
    afterAll(() => store[Symbol.asyncDispose]());

    const stateOf = async (id: string) =>
      (
        await rowsOf<{ revision: number }>(store.database, 'select revision from emails_now where id = $1', [
          id,
        ])
      )[0]?.revision;

    test('is never written behind the moment at which it is written', async () => {
      const engine = engineOver(store.database, { clock: sharedClock() });
      const begun = Date.now();
      const id = await spawned(engine, begun - 3_600_000);
      const [row] = await rowsOf<{ at: number; due: number }>(
        store.database,
        `select (extract(epoch from wake_at) * 1000)::float8 as at,
          (select min(value::text::float8) from json_each(timers)) as due from emails_now where id = $1`,
        [id],
      );
      expect(row?.due).toBe(begun - 3_600_000 + 10_000);
      expect(row?.at).toBeGreaterThanOrEqual(begun);
      // The database tells parts of a millisecond.
      expect(Math.floor(row?.at ?? 0)).toBeLessThanOrEqual(Date.now());
      await engine.wakeDue();
      expect(await stateOf(id)).toBeGreaterThan(1);
      await engine.stop();
    });

    test('and was due a year ago is woken by one that has just begun', async () => {
      const idle = engineOver(store.database, { clock: sharedClock() });
      const id = await spawned(idle, Date.now());
      await store.database.query(`update email_due set wake_at = now() - interval '1 year' where id = $1`, [
        id,
      ]);
      await idle.tell('email', id, { type: 'nothing', at: Date.now() } as never).catch(() => {});
      const engine = engineOver(store.database, { clock: sharedClock() });
      await engine.wakeDue();
      const [row] = await rowsOf<{ claimed: boolean }>(
        store.database,
        `select wake_at > now() - interval '1 day' as claimed from emails_now where id = $1`,
        [id],
      );
      expect(row?.claimed).toBe(true);
      await Promise.all([idle.stop(), engine.stop()]);
    });
  });

describe('what is due on PostgreSQL', () => {
  test('is seen however long the transaction that wrote it went on', async () => {
    await using store = await postgresStore();
    const clock = sharedClock();
    const engine = engineOver(store.database, { clock });
    const id = await spawned(engine, Date.now());
    const sql = postgres(store.url as string, { max: 1, onnotice: () => {} });
    await using _ = { [Symbol.asyncDispose]: () => sql.end() };
    const writer = await sql.reserve();
    await writer.unsafe('begin');
    // The order of the engine's statements: the number first, and then the moment.
    await writer.unsafe(
      `update email_due set wake_at = case when pg_current_xact_id() is not null then clock_timestamp() end where id = '${id}'`,
    );
    for (let tick = 0; tick < 20; tick++) {
      clock.passes();
      await engine.wakeDue();
    }
    await writer.unsafe('commit');
    writer.release();
    expect(await countOf(store.database, `emails_now where wake_at <= now()`)).toBe(1);
    clock.passes();
    await engine.wakeDue();
    expect(await countOf(store.database, `emails_now where wake_at <= now()`)).toBe(0);
    await engine.stop();
  });
});
