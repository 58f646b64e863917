import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import postgres from 'postgres';
import { openSession } from '../../src/engine/audit/session.ts';
import { Decider } from '../../src/engine/machine/decide.ts';
import { PAGE } from '../../src/engine/runtime/timers/tell-where.ts';
import { auditLedger } from '../../src/ops/audit/audit.ts';
import { COMMIT_LIMITS } from '../../src/platform/async/batcher.ts';
import { webhookDeliveryKind } from '../../src/sending/webhooks/deliveries/kind.ts';
import { stopDeliveries } from '../../src/sending/webhooks/deliveries/stop-pending.ts';
import { ManualClock } from '../support/engine.ts';
import { eventually } from '../support/eventually.ts';
import { multiply, waitingFor } from '../support/waiting-deliveries.ts';
import { openReceiver, openWorld, type Receiver, type World } from '../support/webhook-world.ts';

// An endpoint that cannot be reached has a delivery waiting for every event of the last two hours and a half:
// 300,000 of them with DELIVERIES=300000 bun run test tests/integration/webhook-stopping

const MANY = Number(process.env.DELIVERIES ?? 6_000);

let clock: ManualClock;
let world: World;
let receiver: Receiver;
beforeEach(async () => {
  clock = new ManualClock(Date.UTC(2026, 10, 20, 12));
  world = await openWorld({ clock });
  receiver = openReceiver();
  receiver.answer = () => new Response('no', { status: 500 });
});
afterEach(async () => {
  receiver[Symbol.dispose]();
  await world[Symbol.asyncDispose]();
});

async function register(client = world.test, events = ['delivered']): Promise<string> {
  const { body } = await client.post('/v1/webhooks', { url: receiver.url, events });
  return body.data.id;
}

const retriesOf = (id: string, count: number) =>
  eventually('retries are timed', async () => {
    const { body } = await world.test.get(`/v1/webhooks/${id}/deliveries`);
    const timed = body.data.filter(({ nextAttemptAt }: { nextAttemptAt: string | null }) => nextAttemptAt);
    return timed.length === count ? true : undefined;
  });
const waiting = (id: string) => waitingFor(world.service.database, id);

/** An endpoint for which so many deliveries wait, one of which was attempted. */
async function crowded(deliveries: number): Promise<string> {
  const id = await register();
  await world.send();
  await retriesOf(id, 1);
  await multiply(world.service.database, id, deliveries - 1);
  expect(await waiting(id)).toBe(deliveries);
  return id;
}

const nothingWaits = (id: string) =>
  eventually('nothing waits', async () => ((await waiting(id)) === 0 ? true : undefined));

/** The numbers of an endpoint's deliveries by "state, reason". */
async function endsOf(id: string): Promise<Record<string, number>> {
  const rows = await world.service.database.query<{ end: string; n: number }>(
    `select concat_ws(', ', state, context->>'stoppedBy') as end, count(*)::integer as n
     from webhook_deliveries where webhook_id = $1 group by 1`,
    [id],
  );
  return Object.fromEntries(rows.map(({ end, n }) => [end, n]));
}

/** Everything that comes due from now on has, to the last retry. */
async function allComesDue(): Promise<void> {
  clock.time += 86_400_000;
  await world.service.engine.wakeDue();
}

describe(`with ${MANY.toLocaleString('en')} deliveries waiting`, () => {
  test('an endpoint is deleted at once, and they are stopped in batches, while other endpoints are served', async () => {
    const other = await register(world.live);
    const id = await crowded(MANY);
    const serve = async (): Promise<void> =>
      expect((await world.live.patch(`/v1/webhooks/${other}`, { events: ['sent'] })).status).toBe(200);
    // One of them is held, so that their end does not come before the answer to the other.
    const sql = postgres(world.databaseUrl, { max: 1, onnotice: () => {} });
    await using _ = { [Symbol.asyncDispose]: () => sql.end() };
    await sql.begin(async (holding) => {
      await holding`select from webhook_deliveries where webhook_id = ${id} order by id desc limit 1 for update`;
      expect((await world.test.delete(`/v1/webhooks/${id}`)).status).toBe(204);
      expect((await world.test.get(`/v1/webhooks/${id}`)).status).toBe(404);
      await serve();
      expect(await waiting(id)).toBeGreaterThan(0);
    });
    while ((await waiting(id)) > 0) await serve();
    expect(await endsOf(id)).toEqual({ 'failed, endpoint_deleted': MANY });
    const [largest] = await world.service.database.query<{ rows: number }>(
      `select max(n)::integer as rows from (
         select count(*) as n from webhook_delivery_journal where steps::text like '%endpoint.stopped%' group by xmin
       ) writes`,
    );
    expect(largest?.rows).toBeLessThanOrEqual(COMMIT_LIMITS.batchItems);
    await allComesDue();
    expect(receiver.received).toHaveLength(1);
  });

  test('an endpoint is disabled at once', async () => {
    const id = await crowded(MANY);
    const { status, body } = await world.test.patch(`/v1/webhooks/${id}`, { status: 'disabled' });
    expect([status, body.data.status]).toEqual([200, 'disabled']);
    await nothingWaits(id);
    expect(await endsOf(id)).toEqual({ 'failed, endpoint_disabled': MANY });
  });
});

describe('an endpoint that is disabled with more waiting than a batch', () => {
  const SOME = PAGE + 1;

  test('shows them as stopped from then on', async () => {
    const id = await crowded(SOME);
    await world.test.patch(`/v1/webhooks/${id}`, { status: 'disabled' });
    const { body } = await world.test.get(`/v1/webhooks/${id}/deliveries?limit=100`);
    const shown = new Set(
      body.data.map(({ status, error, nextAttemptAt }: Record<string, unknown>) =>
        [status, error, nextAttemptAt].join(),
      ),
    );
    expect(shown).toEqual(new Set(['failed,endpoint_disabled,']));
    await nothingWaits(id);
  });

  test.each([
    ['enabled', (id: string) => world.test.patch(`/v1/webhooks/${id}`, { status: 'active' })],
    ['given another secret', (id: string) => world.test.post(`/v1/webhooks/${id}/rotate-secret`)],
  ])('and %s at once sends none of them, and keeps what comes after', async (_how, enable) => {
    const id = await crowded(SOME);
    await world.test.patch(`/v1/webhooks/${id}`, { status: 'disabled' });
    // A request that a busy machine refuses (503) is repeated.
    const { status, body } = await eventually('an answer', async () => {
      const reply = await enable(id);
      return reply.status === 503 ? undefined : reply;
    });
    expect([status, body.data.status]).toEqual([200, 'active']);
    expect(await waiting(id)).toBe(0);
    expect(await endsOf(id)).toEqual({ 'failed, endpoint_disabled': SOME });

    await world.send();
    await receiver.until(2);
    await eventually('its retry is timed', async () => ((await endsOf(id)).scheduled ? true : undefined));
    await stopDeliveries({ engine: world.service.engine, clock });
    expect(await endsOf(id)).toEqual({ 'failed, endpoint_disabled': SOME, scheduled: 1 });
    receiver.answer = () => new Response('yes');
    await allComesDue();
    await eventually('it is taken', async () => ((await endsOf(id)).success ? true : undefined));
    expect(receiver.received).toHaveLength(3);
  });
});

test('between an endpoint and its deliveries the ledger is in order, and what comes due is not posted', async () => {
  const id = await crowded(50);
  const { database } = world.service;
  // As a process leaves it that is killed before the first batch.
  const session = await openSession({ url: world.databaseUrl, dataDir: null });
  try {
    await world.service.windDown();
    expect((await world.test.delete(`/v1/webhooks/${id}`)).status).toBe(204);
    expect(await waiting(id)).toBe(50);
    const findings = await auditLedger(session, clock.time);
    expect(findings.named).toEqual([]);
  } finally {
    await session.close();
  }
  await using next = await openWorld({ clock, databaseUrl: world.databaseUrl });
  clock.time += 5_000;
  await next.service.engine.wakeDue();
  await nothingWaits(id);
  expect(await endsOf(id)).toEqual({ 'failed, endpoint_deleted': 50 });
  expect(receiver.received).toHaveLength(1);
  expect(await database.query('select 1 as one from actor_outbox')).toEqual([]);
});

test('stopping is the transition of the machine, from every state that waits', async () => {
  const id = await register(world.test, ['sent', 'delivered']);
  await world.send();
  await retriesOf(id, 2);
  const inserted = new Date(clock.time).toISOString();
  const replay = { from: inserted, to: inserted };
  expect((await world.test.post(`/v1/webhooks/${id}/replay`, replay)).body.data.queued).toBe(2);
  const { database } = world.service;
  interface Stored {
    readonly id: string;
    readonly state: string;
    readonly context: object;
    readonly timers: Record<string, number> | null;
    readonly revision: number;
  }
  const read = () =>
    database.query<Stored>(
      'select id, state, context, timers, revision from webhook_deliveries where webhook_id = $1 order by id',
      [id],
    );
  const timers = JSON.stringify({ 'xstate.after.lease.webhookDelivery.posting': clock.time + 30_000 });
  await database.query(
    `update webhook_deliveries set state = 'posting', timers = $2::text::json where id = $1`,
    [(await read()).find(({ state }) => state === 'scheduled')?.id ?? '', timers],
  );
  const before = await read();
  expect(new Set(before.map(({ state }) => state))).toEqual(new Set(['queued', 'posting', 'scheduled']));
  clock.time += 10;
  await world.test.patch(`/v1/webhooks/${id}`, { status: 'disabled' });
  await eventually('all have stopped', async () =>
    (await read()).every(({ state }) => state === 'failed') ? true : undefined,
  );

  const decider = new Decider(webhookDeliveryKind.machine);
  const event = { type: 'endpoint.stopped', at: clock.time, reason: 'endpoint_disabled' };
  const expected = before.map(({ id: delivery, state, context, timers: pending, revision }) => {
    const next = decider.next({ snapshot: decider.restore(state, context), timers: pending ?? {} }, event);
    return {
      row: {
        id: delivery,
        state: next?.snapshot.value as string,
        context: next?.snapshot.context as object,
        timers: Object.keys(next?.timers ?? { x: 1 }).length === 0 ? null : (next?.timers ?? null),
        revision: revision + 1,
      },
      steps: [next?.step],
    };
  });
  expect(await read()).toEqual(expected.map(({ row }) => row));
  for (const { row, steps } of expected) {
    const [written] = await database.query<{ steps: object }>(
      'select steps from webhook_delivery_journal where actor_id = $1 and revision = $2',
      [row.id, row.revision],
    );
    expect(written?.steps).toEqual(steps);
  }
});

test('an endpoint that is disabled while a post runs keeps what was answered to it', async () => {
  const id = await register();
  const slow = Promise.withResolvers<Response>();
  receiver.answer = () => slow.promise;
  await world.send();
  await receiver.until(1);
  await world.test.patch(`/v1/webhooks/${id}`, { status: 'disabled' });
  const firstWith = (expected: object) =>
    eventually(JSON.stringify(expected), async () => {
      const [first] = (await world.test.get(`/v1/webhooks/${id}/deliveries`)).body.data;
      return Object.entries(expected).every(([name, value]) => first?.[name] === value) ? true : undefined;
    });
  const stopped = { status: 'failed', stopReason: 'endpoint_disabled' };
  await firstWith({ ...stopped, attemptedAt: null, error: 'endpoint_disabled' });
  slow.resolve(new Response('late', { status: 503 }));
  await firstWith({ ...stopped, httpStatus: 503, responseBody: 'late' });
});
