import { afterAll, beforeAll, expect, test } from 'bun:test';
import { usageAccountant } from '../../src/accounts/usage/usage-accountant.ts';
import { PostgresDatabase } from '../../src/platform/db/server/postgres.ts';
import {
  countOf,
  emailSpawn,
  engineOver,
  LIVE,
  ManualClock,
  plainInput,
  rowsOf,
  TEST,
} from '../support/engine.ts';
import { onEachStore } from '../support/shared-store.ts';

const NOW = Date.parse('2026-11-20T12:00:00.000Z');
const IN_AN_HOUR = NOW + 3_600_000;
/** As the service names the period of test sends. */
const PERIOD = '2026-11-20';
const UNLIMITED = { period: PERIOD, quota: null };

onEachStore('usage without a quota', (store) => {
  const clock = new ManualClock(NOW);
  let others: PostgresDatabase[] = [];
  beforeAll(() => {
    if (store.url !== null) others = [new PostgresDatabase(store.url)];
  });
  afterAll(async () => {
    await Promise.all(others.map((database) => database.close()));
  });

  const used = async (): Promise<number> =>
    (
      await rowsOf<{ used: number }>(store.database, 'select used from usage_totals where period = $1', [
        PERIOD,
      ])
    )[0]?.used ?? 0;
  const entries = (): Promise<number> => countOf(store.database, 'usage_entries where period = $1', [PERIOD]);
  /** On every instance at once. */
  const addUp = () =>
    Promise.all([store.database, ...others].map((database) => usageAccountant({ database, clock }).run()));
  const engine = () => engineOver(store.database, { clock });
  const births = (count: number, meter: { period: string; quota: number | null } = UNLIMITED) =>
    Array.from({ length: count }, () =>
      emailSpawn(plainInput(NOW, { scheduledAt: IN_AN_HOUR }), { meter, ...TEST }),
    );

  test('are counted, whether they have been added up or not, and by one instance only', async () => {
    const one = engine();
    await Promise.all(births(60).map((birth) => one.spawn('email', birth)));
    expect(await used()).toBe(60);
    expect(await entries()).toBeGreaterThan(0);
    await addUp();
    expect([await used(), await entries()]).toEqual([60, 0]);
    await addUp();
    expect(await used()).toBe(60);
  });

  test('go back, before they have been added up and afterwards', async () => {
    const one = engine();
    const before = await used();
    const sent = births(4);
    await Promise.all(sent.map((birth) => one.spawn('email', birth)));
    const cancel = (index: number) =>
      one.tell('email', sent[index]?.id as string, { type: 'cancel.requested', at: NOW });
    await Promise.all([cancel(0), cancel(1), cancel(1)]);
    expect(await used()).toBe(before + 2);
    await addUp();
    expect(await used()).toBe(before + 2);
    await cancel(2);
    expect(await used()).toBe(before + 1);
  });

  test('go back to the month they were taken from, also of what a warm-up has put off until that is over', async () => {
    const lastOfNovember = Date.parse('2026-11-30T18:00:00.000Z');
    const midnight = Date.parse('2026-12-01T00:00:00.000Z');
    const ofMonth = (period: string) =>
      rowsOf<{ used: number }>(store.database, 'select used from usage_totals where period = $1', [period]);
    const one = engine();
    const sent = Array.from({ length: 2 }, () =>
      emailSpawn(plainInput(lastOfNovember, { livemode: true }), {
        meter: { period: '2026-11', quota: null },
        ...LIVE,
      }),
    );
    await Promise.all(sent.map((birth) => one.spawn('email', birth)));
    const because = { until: midnight, transport: 'smtp', perDay: 50 };
    const event = { type: 'attempt.postponed', at: lastOfNovember, attempt: 1, because } as const;
    for (const { id } of sent) expect((await one.tell('email', id, event)).outcome).toBe('changed');
    const [put] = sent;
    const ended = { type: 'campaign.ended', at: midnight + 1 } as const;
    expect((await one.tell('email', put?.id as string, ended)).outcome).toBe('changed');
    expect([await ofMonth('2026-11'), await ofMonth('2026-12')]).toEqual([[{ used: 1 }], []]);
  });

  test('go back although nothing of their period has ever been added up', async () => {
    await rowsOf(store.database, 'delete from usage');
    await rowsOf(store.database, 'delete from usage_entries');
    const one = engine();
    const [birth] = births(1);
    if (!birth) throw new Error('no birth');
    await one.spawn('email', birth);
    await one.tell('email', birth.id, { type: 'cancel.requested', at: NOW });
    expect(await used()).toBe(0);
    await addUp();
    expect(await used()).toBe(0);
  });

  test('count against a quota that comes later', async () => {
    const one = engine();
    await Promise.all(births(7).map((birth) => one.spawn('email', birth)));
    await addUp();
    const limited = await Promise.all(
      births(5, { period: PERIOD, quota: 10 }).map((birth) => one.spawn('email', birth)),
    );
    expect(limited.filter(({ outcome }) => outcome === 'spawned')).toHaveLength(3);
    expect(await used()).toBe(10);
  });

  test('of calls with and without a quota in one batch are held apart', async () => {
    const one = engine();
    const period = { period: '2026-11-21', quota: 2 };
    const mixed = [births(3, period), births(3, { ...period, quota: null })].flat();
    const results = await Promise.all(mixed.map((birth) => one.spawn('email', birth)));
    expect(results.map(({ outcome }) => outcome)).toEqual([
      'spawned',
      'spawned',
      'overQuota',
      'spawned',
      'spawned',
      'spawned',
    ]);
  });

  test('are more than one statement adds up', async () => {
    await rowsOf(
      store.database,
      `insert into usage_entries select 'ws_many', false, '2026-11-22', 1 from generate_series(1, 20001)`,
    );
    await addUp();
    const [row] = await rowsOf<{ used: number }>(
      store.database,
      `select used from usage where workspace_id = 'ws_many'`,
    );
    expect([row?.used, await entries()]).toEqual([20_001, 0]);
  });
});
