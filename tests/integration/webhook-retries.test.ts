import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import type { WebhookDeliveryContext } from '../../machines/webhook-delivery/context.ts';
import { Decider } from '../../src/engine/machine/decide.ts';
import { mintId } from '../../src/platform/db/ids.ts';
import { webhookDeliveryKind } from '../../src/sending/webhooks/deliveries/kind.ts';
import { verify } from '../../src/sending/webhooks/http/signature.ts';
import { type Client, createClient } from '../support/client.ts';
import { ManualClock } from '../support/engine.ts';
import { eventually } from '../support/eventually.ts';
import { watchedDeliveries } from '../support/watched-deliveries.ts';
import { openReceiver, openWorld, type Receiver, type World } from '../support/webhook-world.ts';

// Retries after a failure, with a clock that the test owns: a retry is due at a millisecond, not about then.

const BORN = Date.UTC(2026, 10, 20, 12);
const BACKOFF = [5_000, 30_000, 300_000, 1_800_000, 7_200_000];

let clock: ManualClock;
let world: World;
let receiver: Receiver;
beforeEach(async () => {
  clock = new ManualClock(BORN);
  world = await openWorld({ clock });
  receiver = openReceiver();
});
afterEach(async () => {
  receiver[Symbol.dispose]();
  await world[Symbol.asyncDispose]();
});

const no = () => new Response('no', { status: 500 });
const yes = () => new Response('yes');

const { register, shown, deliveries, once, settled, counted } = watchedDeliveries(
  () => world,
  () => receiver,
);

/** Has one attempt after the other fail, as the nth to the last in a row. */
async function failInTurn(id: string, first: number, last: number): Promise<void> {
  for (let failures = first; failures <= last; failures += 1) {
    await world.send();
    await counted(id, failures);
    clock.time += 1;
  }
}

describe('a delivery that fails', () => {
  test('is retried 5 s, 30 s, 5 min, 30 min and 2 h after each attempt, to the millisecond, with the same bytes', async () => {
    receiver.answer = no;
    const { id, secret } = await register();
    await world.send();
    await receiver.until(1);
    for (const [retry, wait] of BACKOFF.entries()) {
      const [row] = await settled(id, 1);
      expect(row).toMatchObject({ status: 'scheduled', httpStatus: 500, retryCount: retry });
      expect(row?.nextAttemptAt).toBe(new Date(clock.time + wait).toISOString());
      clock.time += wait - 1;
      await world.service.engine.wakeDue();
      expect((await deliveries(id))[0]?.retryCount).toBe(retry);
      expect(receiver.received).toHaveLength(retry + 1);
      clock.time += 1;
      await world.service.engine.wakeDue();
      const posts = await receiver.until(retry + 2);
      expect(posts.at(-1)?.body).toBe(posts[0]?.body as string);
      const { signature, body } = posts.at(-1) as (typeof posts)[number];
      expect(verify(secret, signature, body, Math.floor(clock.time / 1_000), 0)).toBe(true);
    }
    const [row] = await once(id, ([first]) => first?.status === 'failed');
    expect(row).toMatchObject({ retryCount: 5, httpStatus: 500, nextAttemptAt: null, responseBody: 'no' });
    expect((await counted(id, 6)).status).toBe('active');
    clock.time += 86_400_000;
    await world.service.engine.wakeDue();
    expect(receiver.received).toHaveLength(6);
  });

  test('whose attempt was lost is made again when the lease ends, and no retry is used up', async () => {
    const { id } = await register();
    // The process that was to post has gone: the row is all there is.
    const [endpoint] = await world.service.database.query<{ workspace_id: string }>(
      'select workspace_id from webhook_endpoints where id = $1',
      [id],
    );
    const decider = new Decider(webhookDeliveryKind.machine);
    const begun = decider.begin({ at: clock.time, leaseMs: 30_000, turnAt: null }, clock.time);
    await world.service.database.query(
      `insert into webhook_deliveries (id, workspace_id, livemode, state, context, timers, wake_at, revision,
         machine_version, webhook_id, event_id, event_type, email_id, event)
       values ($1, $2, false, 'posting', $3::text::json, $4::text::json, $5::text::timestamptz, 1, 1, $6, $7, 'sent', $8, $9::text::json)`,
      [
        mintId('dlv', clock.time),
        endpoint?.workspace_id ?? '',
        JSON.stringify(begun.snapshot.context),
        JSON.stringify(begun.timers),
        new Date(clock.time + 30_000).toISOString(),
        id,
        mintId('evt', clock.time),
        mintId('em', clock.time),
        '{"id":"evt_x"}',
      ],
    );
    clock.time += 29_999;
    await world.service.engine.wakeDue();
    expect(receiver.received).toHaveLength(0);
    clock.time += 1;
    await world.service.engine.wakeDue();
    const [row] = await once(id, ([first]) => first?.status === 'success');
    expect(row).toMatchObject({ retryCount: 0 });
    expect(receiver.received).toHaveLength(1);
  });

  test('is signed with the secret of the moment', async () => {
    receiver.answer = no;
    const { id, secret } = await register();
    await world.send();
    await settled(id, 1);
    const rotated = (await world.test.post(`/v1/webhooks/${id}/rotate-secret`)).body.data;
    receiver.answer = yes;
    clock.time += 5_000;
    await world.service.engine.wakeDue();
    const [, second] = await receiver.until(2);
    const at = Math.floor(clock.time / 1_000);
    expect(verify(rotated.secret, second?.signature ?? '', second?.body ?? '', at)).toBe(true);
    expect(verify(secret, second?.signature ?? '', second?.body ?? '', at)).toBe(false);
  });

  test('is not sent any more once the deletion of its endpoint is answered, and stops', async () => {
    receiver.answer = no;
    const { id } = await register(['sent', 'delivered']);
    for (let i = 0; i < 4; i += 1) await world.send();
    await settled(id, 8);
    expect((await world.test.delete(`/v1/webhooks/${id}`)).status).toBe(204);
    const rows = await eventually('all have stopped', async () => {
      const stopped = await world.service.database.query<{ state: string; context: WebhookDeliveryContext }>(
        'select state, context from webhook_deliveries where webhook_id = $1 and wake_at is null and timers is null',
        [id],
      );
      return stopped.length === 8 ? stopped : undefined;
    });
    expect(rows.map(({ state, context }) => [state, context.stoppedBy])).toEqual(
      Array.from({ length: 8 }, () => ['failed', 'endpoint_deleted']),
    );
    clock.time += 86_400_000;
    await world.service.engine.wakeDue();
    expect(receiver.received).toHaveLength(8);
  });
});

describe('an endpoint that fails', () => {
  test('is disabled by ten failures in a row; what waits stops, and a rotation starts afresh', async () => {
    receiver.answer = no;
    const { id } = await register();
    await failInTurn(id, 1, 9);
    expect((await shown(id)).status).toBe('active');
    await failInTurn(id, 10, 10);
    expect(await shown(id)).toMatchObject({
      status: 'disabled',
      disabledAt: new Date(clock.time - 1).toISOString(),
      disabledReason: 'failures',
      lastFailures: Array.from({ length: 10 }, () => ({ httpStatus: 500, error: null })),
    });
    const rows = await once(id, (all) => all.every(({ status }) => status === 'failed'));
    expect(rows).toHaveLength(10);
    expect(new Set(rows.map(({ error }) => error))).toEqual(new Set(['endpoint_disabled']));

    await world.sendUntilDelivered();
    expect(await deliveries(id)).toHaveLength(10);
    expect((await world.test.post(`/v1/webhooks/${id}/test`)).status).toBe(409);
    expect((await world.test.post(`/v1/webhooks/${id}/deliveries/${rows[0]?.id}/redeliver`)).status).toBe(
      409,
    );
    clock.time += 1_000;
    const rotated = (await world.test.post(`/v1/webhooks/${id}/rotate-secret`)).body.data;
    expect(rotated).toMatchObject({ status: 'active', failureCount: 0 });
    receiver.answer = yes;
    await world.send();
    await once(id, (all) => all.filter(({ status }) => status === 'success').length === 1);
    clock.time += 86_400_000;
    await world.service.engine.wakeDue();
    expect(receiver.received).toHaveLength(11);
  });

  test('is not disabled when one of ten succeeds', async () => {
    receiver.answer = no;
    const { id } = await register();
    await failInTurn(id, 1, 9);
    receiver.answer = yes;
    await world.send();
    await counted(id, 0);
    receiver.answer = no;
    await failInTurn(id, 1, 9);
    expect((await shown(id)).status).toBe('active');
    await failInTurn(id, 10, 10);
    expect((await shown(id)).status).toBe('disabled');
  });

  test('is not disabled by one stall that many posts meet at once, and each keeps its own answer', async () => {
    const { id } = await register(['sent', 'delivered']);
    const stall = Promise.withResolvers<void>();
    receiver.answer = () => stall.promise.then(no);
    await Promise.all(Array.from({ length: 30 }, () => world.send()));
    await receiver.until(60);
    clock.time += 9_000;
    stall.resolve();
    await settled(id, 60);
    expect(await shown(id)).toMatchObject({ status: 'active', failureCount: 1 });

    await world.test.patch(`/v1/webhooks/${id}`, { status: 'disabled' });
    await world.send();
    const rows = await once(id, (all) => all.every(({ status }) => status === 'failed'));
    expect(rows.map(({ httpStatus, stopReason }) => [httpStatus, stopReason])).toEqual(
      Array.from({ length: 60 }, () => [500, 'endpoint_disabled']),
    );
  });

  test('counts hundreds of outcomes that arrive at once, each one once', async () => {
    const { id } = await register();
    const { engine, database } = world.service;
    let last = clock.time;
    const failed = () => {
      last += 1;
      return { type: 'delivery.failed', at: last, attemptedAt: last };
    };
    const succeeded = () => ({ type: 'delivery.succeeded', at: last });
    const tell = (event: object) => engine.tell('webhookEndpoint', id, event as never);
    const rounds = Array.from({ length: 40 }, () => [...Array.from({ length: 9 }, failed), succeeded()]);
    await Promise.all(rounds.flat().map(tell));
    expect(await shown(id)).toMatchObject({ status: 'active', failureCount: 0 });
    await Promise.all(Array.from({ length: 300 }, failed).map(tell));
    expect(await shown(id)).toMatchObject({ status: 'disabled', failureCount: 10 });

    clock.time = last + 1_000;
    await world.test.post(`/v1/webhooks/${id}/rotate-secret`);
    receiver.answer = no;
    await Promise.all(Array.from({ length: 300 }, () => world.send()));
    await settled(id, 100);
    await eventually('no mail is left', async () => {
      const rows = await database.query('select 1 as one from actor_outbox');
      return rows.length === 0 ? true : undefined;
    });
    expect(await shown(id)).toMatchObject({ status: 'active', failureCount: 1 });
  });
});

describe('sending again', () => {
  test('a redelivery is the same event with the same id, and starts its retries over', async () => {
    const { id } = await register();
    await world.send();
    const [row] = await once(id, ([first]) => first?.status === 'success');
    receiver.answer = no;
    clock.time += 60_000;
    const key = { 'idempotency-key': crypto.randomUUID() };
    const path = `/v1/webhooks/${id}/deliveries/${row?.id}/redeliver`;
    const reply = await world.test.post(path, undefined, key);
    expect([reply.status, reply.body.data.status]).toEqual([200, 'scheduled']);
    expect((await world.test.post(path, undefined, key)).body).toEqual(reply.body);
    const posts = await receiver.until(2);
    expect(posts[1]?.body).toBe(posts[0]?.body as string);
    const [again] = await settled(id, 1);
    expect(again).toMatchObject({ id: row?.id, retryCount: 0, httpStatus: 500 });
    expect(again?.nextAttemptAt).toBe(new Date(clock.time + 5_000).toISOString());
    const other = await register(['sent']);
    expect((await world.test.post(`/v1/webhooks/${other.id}/deliveries/${row?.id}/redeliver`)).status).toBe(
      404,
    );
    expect((await world.live.post(path)).status).toBe(404);
  });

  test('a replay sends a range again, oldest first, at its pace, with the same ids', async () => {
    const { id } = await register(['sent', 'delivered'], '/first');
    for (let i = 0; i < 5; i += 1) {
      clock.time += 1_000;
      await world.send();
    }
    await receiver.until(10);
    const events = receiver.received.map(({ event }) => event);
    clock.time += 60_000;
    const at = clock.time;
    const late = await register(['sent', 'delivered'], '/late');
    const body = {
      from: new Date(BORN + 2_000).toISOString(),
      to: new Date(BORN + 4_000).toISOString(),
      types: ['delivered'],
    };
    const reply = await world.test.post(`/v1/webhooks/${late.id}/replay`, body);
    expect(reply.body.data).toEqual({ queued: 3, continueFrom: null });
    const inOrder = events
      .filter(({ type }) => type === 'delivered')
      .map((event) => event.id)
      .sort();
    const wanted = inOrder.slice(1, 4);
    const rows = await deliveries(late.id);
    expect(rows.map(({ nextAttemptAt }) => nextAttemptAt).sort()).toEqual(
      [0, 20, 40].map((ms) => new Date(at + ms).toISOString()),
    );
    for (let turn = 0; turn < 3; turn += 1) {
      await world.service.engine.wakeDue();
      await receiver.until(11 + turn);
      clock.time += 19;
      await world.service.engine.wakeDue();
      expect(receiver.received).toHaveLength(11 + turn);
      clock.time += 1;
    }
    const again = receiver.received.slice(10);
    expect(again.map(({ event }) => event.id)).toEqual(wanted);
    expect(again.map(({ path }) => path)).toEqual(['/hook/late', '/hook/late', '/hook/late']);
    expect((await deliveries(id)).length).toBe(10);
  });

  test('of overlapping replays of one endpoint one is taken, also when two instances are asked', async () => {
    const { id } = await register();
    for (let i = 0; i < 3; i += 1) {
      clock.time += 1_000;
      await world.send();
    }
    await receiver.until(3);
    const range = { from: new Date(BORN).toISOString(), to: new Date(clock.time).toISOString() };
    clock.time += 1_000;
    const ask = (client: Client, key = crypto.randomUUID()) =>
      client.post(`/v1/webhooks/${id}/replay`, range, { 'idempotency-key': key });
    await using other = await openWorld({ clock, databaseUrl: world.databaseUrl });
    const named = { name: 'Other', env: 'test', permissions: ['webhooks:write'] };
    const second = createClient(other.url, (await world.test.post('/v1/api-keys', named)).body.data.key);
    const replies = await Promise.all(
      Array.from({ length: 30 }, (_, i) => ask(i % 2 === 0 ? world.test : second)),
    );
    expect(replies.map(({ status }) => status).sort()).toEqual([200, ...Array(29).fill(409)]);
    const refused = replies.find(({ status }) => status === 409);
    expect(refused?.body.error).toMatchObject({ code: 'CONFLICT' });
    expect(refused?.headers.get('retry-after')).toBe('1');
    expect(await deliveries(id)).toHaveLength(6);
    clock.time += 59;
    expect((await ask(second)).status).toBe(409);
    clock.time += 1;
    expect((await ask(second)).status).toBe(200);
    expect(await deliveries(id)).toHaveLength(9);
  });

  test('a replay that queues nothing keeps its Idempotency-Key too', async () => {
    const { id } = await register();
    const range = { from: new Date(BORN).toISOString(), to: new Date(clock.time + 60_000).toISOString() };
    const again = { 'idempotency-key': 'nothing-yet' };
    const ask = (body: object = range) => world.test.post(`/v1/webhooks/${id}/replay`, body, again);
    expect((await ask()).body.data).toEqual({ queued: 0, continueFrom: null });
    await world.send();
    await receiver.until(1);
    const repeated = await ask();
    expect(repeated.body.data).toEqual({ queued: 0, continueFrom: null });
    expect(repeated.headers.get('idempotency-replayed')).toBe('true');
    expect((await ask({ ...range, onlyFailed: true })).body.error.code).toBe('IDEMPOTENCY_CONFLICT');
    expect(await deliveries(id)).toHaveLength(1);
  });

  test('a replay of what failed leaves out what the endpoint has taken, at first or in an earlier replay', async () => {
    const { id } = await register();
    await world.send();
    await once(id, ([first]) => first?.status === 'success');
    await world.test.patch(`/v1/webhooks/${id}`, { status: 'disabled' });
    await world.sendUntilDelivered();
    await world.test.patch(`/v1/webhooks/${id}`, { status: 'active' });
    receiver.answer = no;
    await world.send();
    await settled(id, 2);
    await world.test.patch(`/v1/webhooks/${id}`, { status: 'disabled' });
    await world.test.patch(`/v1/webhooks/${id}`, { status: 'active' });
    receiver.answer = yes;
    const range = {
      from: new Date(BORN).toISOString(),
      to: new Date(BORN + 1).toISOString(),
      onlyFailed: true,
    };
    const replay = async () => (await world.test.post(`/v1/webhooks/${id}/replay`, range)).body.data.queued;
    expect(await replay()).toBe(2);
    clock.time += 1_000;
    await world.service.engine.wakeDue();
    await once(id, (rows) => rows.filter(({ status }) => status === 'success').length === 3);
    expect(await replay()).toBe(0);
    expect(new Set(receiver.received.map(({ event }) => event.id)).size).toBe(3);
  });
});
