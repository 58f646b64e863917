import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { EmailEvent } from '../../machines/email/context.ts';
import type { Engine } from '../../src/engine/engine.ts';
import type { Claim, Meter, SpawnResult } from '../../src/engine/machine/result.ts';
import { PostgresDatabase } from '../../src/platform/db/server/postgres.ts';
import {
  countOf,
  emailSpawn,
  engineOver,
  LIVE,
  ManualClock,
  opened,
  plainInput,
  rowsOf,
  TEST,
} from '../support/engine.ts';
import { onEachStore } from '../support/shared-store.ts';

const NOW = Date.parse('2026-11-20T12:00:00.000Z');
const DAY = 24 * 3_600_000;

onEachStore('admission', (store) => {
  let others: PostgresDatabase[] = [];
  const clock = new ManualClock(NOW);
  beforeAll(async () => {
    if (store.url !== null) others = [await PostgresDatabase.open(store.url)];
  });
  afterAll(async () => {
    await Promise.all(others.map((database) => database.close()));
  });

  /** One engine; two where the database can be shared. */
  const engines = (): Engine[] =>
    [store.database, ...others].map((database) => engineOver(database, { clock }));
  const one = (): Engine => engineOver(store.database, { clock });

  const usedOf = async (period: string): Promise<number> =>
    (
      await rowsOf<{ used: number }>(store.database, 'select used from usage_totals where period = $1', [
        period,
      ])
    )[0]?.used ?? 0;
  const tally = (spawned: readonly SpawnResult[], outcome: SpawnResult['outcome']): number =>
    spawned.filter((each) => each.outcome === outcome).length;
  const emailsOf = (ids: readonly string[]): Promise<number> =>
    countOf(store.database, 'emails where id = any($1::text[])', [ids]);

  const claim = (key: string, fingerprint = 'same', reply = 'the reply'): Claim => ({
    key,
    scope: TEST,
    fingerprint,
    status: 202,
    reply: (state) => JSON.stringify({ state, reply }),
  });
  const keys = (key: string): Promise<number> =>
    countOf(store.database, 'idempotency_keys where key = $1', [key]);

  describe('the quota', () => {
    const sendAll = (count: number, meter: Meter, more: object = {}) => {
      const inserts = Array.from({ length: count }, () => emailSpawn(plainInput(NOW), { meter, ...more }));
      const all = engines();
      return {
        ids: inserts.map(({ id }) => id),
        spawned: Promise.all(
          inserts.map((insert, index) => (all[index % all.length] as Engine).spawn('email', insert)),
        ),
      };
    };

    test('admits exactly as many as its quota, of 300 at once', async () => {
      const meter = { period: 'of 300', quota: 100 };
      const { ids, spawned } = sendAll(300, meter);
      expect([tally(await spawned, 'spawned'), tally(await spawned, 'overQuota')]).toEqual([100, 200]);
      expect(await emailsOf(ids)).toBe(100);
      expect(await usedOf(meter.period)).toBe(100);
      expect(tally(await sendAll(20, meter).spawned, 'overQuota')).toBe(20);
    });

    test('is counted one by one at its boundary', async () => {
      const meter = { period: 'boundary', quota: 3 };
      const outcomes: string[] = [];
      for (let sent = 0; sent < 5; sent++)
        outcomes.push(...(await sendAll(1, meter).spawned).map(({ outcome }) => outcome));
      expect(outcomes).toEqual(['spawned', 'spawned', 'spawned', 'overQuota', 'overQuota']);
    });

    test('can be raised and lowered, and never gives back what was used', async () => {
      const period = 'another plan';
      expect(tally(await sendAll(10, { period, quota: 5 }).spawned, 'spawned')).toBe(5);
      expect(tally(await sendAll(10, { period, quota: 8 }).spawned, 'spawned')).toBe(3);
      expect(tally(await sendAll(10, { period, quota: 2 }).spawned, 'spawned')).toBe(0);
      expect(await usedOf(period)).toBe(8);
      expect(tally(await sendAll(10, { period, quota: null }).spawned, 'spawned')).toBe(10);
    });

    test('of zero admits nothing', async () => {
      const { ids, spawned } = sendAll(3, { period: 'zero', quota: 0 });
      expect(tally(await spawned, 'overQuota')).toBe(3);
      expect(await emailsOf(ids)).toBe(0);
    });

    test('is counted apart for each workspace, environment and period', async () => {
      const engine = one();
      const meter = { period: 'apart', quota: 1 };
      const inserts = [TEST, LIVE, { ...TEST, workspaceId: 'ws_b' }].flatMap((scope) => [
        emailSpawn(plainInput(NOW), { meter, ...scope }),
        emailSpawn(plainInput(NOW), { meter, ...scope }),
      ]);
      const spawned = await Promise.all(inserts.map((insert) => engine.spawn('email', insert)));
      expect(spawned.map(({ outcome }) => outcome)).toEqual(
        Array(3).fill(['spawned', 'overQuota']).flat() as SpawnResult['outcome'][],
      );
    });

    test('gives a unit back for an email that is cancelled in its period, once', async () => {
      const engine = one();
      // As the service names the period of test sends: the day.
      const meter = { period: '2026-11-20', quota: 10 };
      const scheduled = Array.from({ length: 10 }, () =>
        emailSpawn(plainInput(NOW, { scheduledAt: NOW + DAY }), { meter }),
      );
      await Promise.all(scheduled.map((insert) => engine.spawn('email', insert)));
      const cancel = (index: number, at: number) =>
        engine.tell('email', scheduled[index]?.id as string, { type: 'cancel.requested', at });
      const results = await Promise.all([
        cancel(0, NOW),
        cancel(1, NOW),
        cancel(1, NOW),
        cancel(2, NOW + DAY),
      ]);
      expect(results.map(({ outcome }) => outcome)).toEqual(['changed', 'changed', 'refused', 'changed']);
      // The third was cancelled the day after: its unit goes back to the day that it was taken from.
      expect(await usedOf('2026-11-20')).toBe(7);
      expect(await usedOf('2026-11-21')).toBe(0);
      expect(tally(await sendAll(5, meter).spawned, 'spawned')).toBe(3);
    });
  });

  describe('an idempotency key', () => {
    test('of 100 calls at once lets one act and replays its reply to the others', async () => {
      const meter = { period: 'one key', quota: 100 };
      const inserts = Array.from({ length: 100 }, () =>
        emailSpawn(plainInput(NOW), { meter, claim: claim('k-100') }),
      );
      const all = engines();
      const spawned = await Promise.all(
        inserts.map((insert, index) => (all[index % all.length] as Engine).spawn('email', insert)),
      );
      expect([tally(spawned, 'spawned'), tally(spawned, 'replayed')]).toEqual([1, 99]);
      expect(await emailsOf(inserts.map(({ id }) => id))).toBe(1);
      expect(await usedOf('one key')).toBe(1);
      expect(await keys('k-100')).toBe(1);
      const replies = new Set(spawned.flatMap((each) => (each.outcome === 'replayed' ? [each.reply] : [])));
      expect([...replies]).toEqual(['{"state":"sending","reply":"the reply"}']);
    });

    test('answers with the stored fingerprint, so that the caller sees another request behind it', async () => {
      const engine = one();
      await engine.spawn('email', emailSpawn(plainInput(NOW), { claim: claim('k-fp', 'first') }));
      expect(
        await engine.spawn('email', emailSpawn(plainInput(NOW), { claim: claim('k-fp', 'second') })),
      ).toEqual({
        outcome: 'replayed',
        fingerprint: 'first',
        status: 202,
        reply: '{"state":"sending","reply":"the reply"}',
      });
    });

    test('is kept apart for each workspace and environment', async () => {
      const engine = one();
      const scopes = [TEST, LIVE, { ...TEST, workspaceId: 'ws_b' }];
      const spawned = await Promise.all(
        scopes.map((scope) =>
          engine.spawn(
            'email',
            emailSpawn(plainInput(NOW), { ...scope, claim: { ...claim('k-apart'), scope } }),
          ),
        ),
      );
      expect(tally(spawned, 'spawned')).toBe(3);
    });

    test('is free again after 24 hours, and not a moment before', async () => {
      const engine = one();
      const send = () =>
        engine.spawn(
          'email',
          emailSpawn(plainInput(clock.time), { claim: claim('k-old', 'same', `${clock.time}`) }),
        );
      expect((await send()).outcome).toBe('spawned');
      try {
        clock.time = NOW + DAY - 1;
        expect((await send()).outcome).toBe('replayed');
        clock.time = NOW + DAY;
        // Several at once find it expired; one of them takes it.
        const spawned = await Promise.all(Array.from({ length: 10 }, send));
        expect([tally(spawned, 'spawned'), tally(spawned, 'replayed')]).toEqual([1, 9]);
        expect(await keys('k-old')).toBe(1);
      } finally {
        clock.time = NOW;
      }
    });

    test('that has expired does not drag down the calls beside it', async () => {
      const engine = one();
      await engine.spawn('email', emailSpawn(plainInput(NOW), { claim: claim('k-dragging') }));
      clock.time = NOW + DAY;
      try {
        const inserts = [
          emailSpawn(plainInput(clock.time)),
          emailSpawn(plainInput(clock.time), { claim: claim('k-dragging') }),
          emailSpawn(plainInput(clock.time), { claim: claim('k-beside') }),
        ];
        const spawned = await Promise.all(inserts.map((insert) => engine.spawn('email', insert)));
        expect(tally(spawned, 'spawned')).toBe(3);
      } finally {
        clock.time = NOW;
      }
    });

    test('stays free when the quota refuses', async () => {
      const engine = one();
      const meter = { period: 'full', quota: 0 };
      const refused = await engine.spawn(
        'email',
        emailSpawn(plainInput(NOW), { meter, claim: claim('k-free') }),
      );
      expect(refused.outcome).toBe('overQuota');
      expect(await keys('k-free')).toBe(0);
      const retried = { meter: { ...meter, quota: 1 }, claim: claim('k-free') };
      expect((await engine.spawn('email', emailSpawn(plainInput(NOW), retried))).outcome).toBe('spawned');
      // A replay takes no unit, and is not refused for want of one.
      expect((await engine.spawn('email', emailSpawn(plainInput(NOW), retried))).outcome).toBe('replayed');
    });

    test('stays free when the actor refuses or is absent', async () => {
      const engine = one();
      const insert = emailSpawn(plainInput(NOW));
      await engine.spawn('email', insert);
      const options = { claim: claim('k-refused') };
      expect(
        (await engine.tell('email', insert.id, { type: 'cancel.requested', at: NOW }, options)).outcome,
      ).toBe('refused');
      expect(
        (await engine.tell('email', 'em_absent', { type: 'cancel.requested', at: NOW }, options)).outcome,
      ).toBe('absent');
      expect(await keys('k-refused')).toBe(0);
    });

    test('of an event stores what its own event led to, and is replayed for every other', async () => {
      const engine = one();
      const insert = emailSpawn(plainInput(NOW, { scheduledAt: NOW + DAY }));
      await engine.spawn('email', insert);
      const moved: EmailEvent = {
        type: 'reschedule.requested',
        at: NOW,
        scheduledAt: NOW + 2 * DAY,
      } as EmailEvent;
      const told = await Promise.all([
        engine.tell('email', insert.id, moved, { claim: claim('k-moved') }),
        engine.tell('email', insert.id, moved, { claim: claim('k-moved') }),
        engine.tell(
          'email',
          insert.id,
          { type: 'cancel.requested', at: NOW },
          { claim: claim('k-cancelled') },
        ),
        engine.tell('email', insert.id, moved),
      ]);
      expect(told.map(({ outcome }) => outcome)).toEqual(['changed', 'replayed', 'changed', 'refused']);
      expect(told[1]).toMatchObject({ reply: '{"state":"scheduled","reply":"the reply"}' });
      const [stored] = await rowsOf<{ reply: string }>(
        store.database,
        `select reply from idempotency_keys where key = 'k-cancelled'`,
      );
      expect(stored?.reply).toBe('{"state":"cancelled","reply":"the reply"}');
    });

    test('lets one of two actors act that get an event under it at once', async () => {
      const engine = one();
      const inserts = [0, 1].map(() => emailSpawn(plainInput(NOW)));
      await Promise.all(inserts.map((insert) => engine.spawn('email', insert)));
      const accepted = (id: string) =>
        engine.tell(
          'email',
          id,
          {
            type: 'attempt.completed',
            at: NOW,
            attempt: 1,
            outcomes: [{ recipient: 0, outcome: 'accepted', data: {} }],
          } as EmailEvent,
          { claim: claim('k-two') },
        );
      const results = await Promise.all(inserts.map(({ id }) => accepted(id)));
      expect(results.map(({ outcome }) => outcome).sort()).toEqual(['changed', 'replayed']);
      const ids = inserts.map(({ id }) => id);
      expect(
        await countOf(store.database, `emails_now where id = any($1::text[]) and state = 'sent'`, [ids]),
      ).toBe(1);
      const [id = ''] = ids;
      expect((await engine.tell('email', id, opened(NOW))).outcome).toBe(
        results[0]?.outcome === 'changed' ? 'changed' : 'refused',
      );
    });
  });
});
