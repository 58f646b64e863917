import { describe, expect, test } from 'bun:test';
import { ManualClock } from '../support/engine.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts';
import { COMMAND } from '../support/service.ts';
import type { Told } from './ask.ts';
import { type RealService, startRealService } from './real-service.ts';

const LAST_OF_NOVEMBER = Date.parse('2026-11-30T23:59:59.999Z');
const FIRST_OF_DECEMBER = LAST_OF_NOVEMBER + 1;
const HOUR = 3_600_000;
/** Live emails a month on the free plan. */
const FREE = 3_000;

/** The service at a moment that the test moves, with a key of each environment. */
interface World extends AsyncDisposable {
  readonly clock: ManualClock;
  readonly database: TestDatabase;
  readonly service: RealService;
  readonly live: string;
  readonly inTest: string;
  send(key: string, more?: object, headers?: Record<string, string>): Promise<Told>;
  cancel(key: string, id: string): Promise<Told>;
  /** As GET /v1/workspace tells it. */
  workspace(): Promise<{ plan: string; limits: object; usage: Record<string, unknown> }>;
  /** Puts the units that a period has used to a number, as if so many had been sent. */
  use(livemode: boolean, period: string, units: number): Promise<void>;
}

async function open(at: number, environment: Record<string, string> = {}): Promise<World> {
  const stack = new AsyncDisposableStack();
  const database = stack.use(await createTestDatabase());
  const clock = new ManualClock(at);
  const service = stack.use(
    await startRealService({ DATABASE_URL: database.url, ...environment }, { clock }),
  );
  const live = await service.keyWith('live', ['*']);
  const inTest = await service.keyWith('test', ['*']);
  const made = await service.ask({
    method: 'POST',
    path: '/v1/domains',
    key: live,
    body: { name: 'shop.test' },
  });
  expect([made.status, made.body.data.status]).toEqual([201, 'verified']);
  return {
    clock,
    database,
    service,
    live,
    inTest,
    send: (key, more = {}, headers = {}) =>
      service.ask({
        method: 'POST',
        path: '/v1/emails',
        key,
        headers,
        body: { from: 'a@shop.test', to: 'b@example.com', subject: 'Hello', text: 'Hi', ...more },
      }),
    cancel: (key, id) => service.ask({ method: 'DELETE', path: `/v1/emails/${id}`, key }),
    workspace: async () => (await service.ask({ path: '/v1/workspace', key: live })).body.data,
    async use(livemode, period, units) {
      await service.service.database.query(
        `insert into usage (workspace_id, livemode, period, used, wanted, granted, quota)
         select id, $1, $2, $3, 0, 0, 0 from workspaces
         on conflict (workspace_id, livemode, period) do update set used = excluded.used`,
        [livemode, period, units],
      );
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

const inAnHour = (at: number) => ({ scheduledAt: new Date(at + HOUR).toISOString() });

describe('the monthly quota of live emails', () => {
  test('resets with the month, to the millisecond', async () => {
    await using world = await open(LAST_OF_NOVEMBER);
    await world.use(true, '2026-11', FREE - 1);
    expect((await world.send(world.live)).status).toBe(202);
    expect((await world.send(world.live)).status).toBe(429);
    expect((await world.workspace()).usage).toMatchObject({
      periodStart: '2026-11-01T00:00:00.000Z',
      periodEnd: '2026-12-01T00:00:00.000Z',
      emailsSent: FREE,
    });
    world.clock.time = FIRST_OF_DECEMBER;
    expect((await world.workspace()).usage).toMatchObject({
      periodStart: '2026-12-01T00:00:00.000Z',
      periodEnd: '2027-01-01T00:00:00.000Z',
      emailsSent: 0,
    });
    expect((await world.send(world.live)).status).toBe(202);
    expect((await world.workspace()).usage).toMatchObject({ emailsSent: 1 });
    // A clock that is set back counts against the month it tells.
    world.clock.time = LAST_OF_NOVEMBER;
    expect((await world.send(world.live)).status).toBe(429);
  });

  test('explains a refusal, stores nothing and frees the Idempotency-Key', async () => {
    await using world = await open(LAST_OF_NOVEMBER);
    await world.use(true, '2026-11', FREE);
    const key = { 'idempotency-key': 'once' };
    const reply = await world.send(world.live, {}, key);
    expect([reply.status, reply.body.error.code]).toEqual([429, 'QUOTA_EXCEEDED']);
    expect(reply.body.error.message).toContain('monthly email quota');
    expect(reply.body.error.suggestion).toContain('next UTC month');
    expect(reply.body.error.suggestion).toContain('pgrade the plan');
    expect(reply.headers.get('retry-after')).toBeNull();
    const list = await world.service.ask({ path: '/v1/emails', key: world.live });
    expect(list.body.data).toEqual([]);
    world.clock.time = FIRST_OF_DECEMBER;
    expect((await world.send(world.live, {}, key)).status).toBe(202);
    const replayed = await world.send(world.live, {}, key);
    expect([replayed.status, replayed.headers.get('idempotency-replayed')]).toEqual([202, 'true']);
    expect((await world.workspace()).usage).toMatchObject({ emailsSent: 1 });
  });

  test('gives a unit back to the month it was taken from, also when that is over', async () => {
    await using world = await open(LAST_OF_NOVEMBER - 1);
    await world.use(true, '2026-11', FREE - 2);
    const first = await world.send(world.live, inAnHour(world.clock.time));
    const second = await world.send(world.live, inAnHour(world.clock.time));
    expect((await world.send(world.live)).status).toBe(429);
    world.clock.time = LAST_OF_NOVEMBER;
    const reply = await world.cancel(world.live, first.body.data.id);
    expect([reply.status, reply.body.data.status]).toEqual([200, 'cancelled']);
    expect((await world.workspace()).usage).toMatchObject({ emailsSent: FREE - 1 });
    // The place it held is free for exactly one.
    expect((await world.send(world.live)).status).toBe(202);
    expect((await world.send(world.live)).status).toBe(429);
    // Cancelling again refunds nothing.
    expect((await world.cancel(world.live, first.body.data.id)).status).toBe(409);
    expect((await world.workspace()).usage).toMatchObject({ emailsSent: FREE });
    world.clock.time = FIRST_OF_DECEMBER;
    await world.send(world.live);
    expect((await world.cancel(world.live, second.body.data.id)).status).toBe(200);
    expect((await world.workspace()).usage).toMatchObject({ emailsSent: 1 });
    world.clock.time = LAST_OF_NOVEMBER;
    expect((await world.workspace()).usage).toMatchObject({ emailsSent: FREE - 1 });
  });

  test('charges nothing for a send from an unverified domain', async () => {
    await using world = await open(LAST_OF_NOVEMBER);
    const reply = await world.send(world.live, { from: 'a@elsewhere.test' });
    expect([reply.status, reply.body.error.code]).toEqual([403, 'FORBIDDEN']);
    expect(reply.body.error.suggestion).toContain('/v1/domains');
    expect((await world.workspace()).usage).toMatchObject({ emailsSent: 0 });
    expect((await world.send(world.inTest, { from: 'a@elsewhere.test' })).status).toBe(202);
  });
});

describe('the daily quota of test emails', () => {
  test('resets at midnight UTC, apart from live emails', async () => {
    await using world = await open(LAST_OF_NOVEMBER, { TEST_SENDS_PER_DAY: '100' });
    await world.use(false, '2026-11-30', 99);
    const cancelled = await world.send(world.inTest, inAnHour(world.clock.time));
    expect(cancelled.status).toBe(202);
    const reply = await world.send(world.inTest);
    expect([reply.status, reply.body.error.code]).toEqual([429, 'QUOTA_EXCEEDED']);
    expect(reply.body.error.message).toContain('test sends');
    expect(reply.body.error.suggestion).toContain('midnight UTC');
    expect(reply.headers.get('retry-after')).toBeNull();
    expect((await world.send(world.live)).status).toBe(202);
    expect((await world.workspace()).usage).toMatchObject({ testSendsToday: 100, emailsSent: 1 });
    await world.cancel(world.inTest, cancelled.body.data.id);
    expect((await world.send(world.inTest)).status).toBe(202);
    expect((await world.send(world.inTest)).status).toBe(429);
    world.clock.time = FIRST_OF_DECEMBER;
    expect((await world.workspace()).usage).toMatchObject({ testSendsToday: 0, emailsSent: 0 });
    expect((await world.send(world.inTest)).status).toBe(202);
    expect((await world.workspace()).usage).toMatchObject({ testSendsToday: 1, emailsSent: 0 });
  });
});

test('`posthorn plan set` holds from the next request on, up and down', async () => {
  await using world = await open(LAST_OF_NOVEMBER);
  await using other = await startRealService({ DATABASE_URL: world.database.url }, { clock: world.clock });
  const [row] = await world.service.service.database.query<{ id: string }>('select id from workspaces');
  const set = async (plan: string): Promise<number> =>
    await Bun.spawn([...COMMAND, 'plan', 'set', row?.id ?? '', plan], {
      env: { PATH: process.env.PATH ?? '', DATABASE_URL: world.database.url, SECRET_KEY: 'x'.repeat(32) },
      stdout: 'ignore',
      stderr: 'ignore',
    }).exited;
  const send = (service: RealService) =>
    service.ask({
      method: 'POST',
      path: '/v1/emails',
      key: world.live,
      body: { from: 'a@shop.test', to: 'b@example.com', subject: 'Hello', text: 'Hi' },
    });
  const both = async (): Promise<number[]> => [
    (await send(world.service)).status,
    (await send(other)).status,
  ];

  await world.use(true, '2026-11', FREE);
  expect(await both()).toEqual([429, 429]);
  expect(await set('starter')).toBe(0);
  expect(await both()).toEqual([202, 202]);
  expect(await world.workspace()).toMatchObject({
    plan: 'starter',
    limits: { emailsPerMonth: 75_000, domains: 5 },
    usage: { emailsSent: FREE + 2, domains: 1 },
  });
  await world.use(true, '2026-11', 75_000);
  expect(await both()).toEqual([429, 429]);
  expect(await set('growth')).toBe(0);
  expect(await both()).toEqual([202, 202]);
  expect(await world.workspace()).toMatchObject({
    plan: 'growth',
    limits: { emailsPerMonth: 500_000, domains: null },
  });
  expect(await set('free')).toBe(0);
  expect(await both()).toEqual([429, 429]);
  expect(await world.workspace()).toMatchObject({ plan: 'free', usage: { emailsSent: 75_002 } });
  expect(await set('platinum')).not.toBe(0);
});
