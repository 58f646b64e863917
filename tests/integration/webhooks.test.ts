import { afterAll, beforeAll, describe, expect, spyOn, test } from 'bun:test';
import Stripe from 'stripe';
import { eventually } from '../support/eventually.ts';
import { openReceiver, openWorld, type Received, type World } from '../support/webhook-world.ts';

// Endpoints over HTTP, and what reaches a receiver. One world for all; each test has separate endpoints.

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world[Symbol.asyncDispose]());

const stripe = new Stripe('sk_test_unused');
const verifies = (post: Pick<Received, 'body' | 'signature'>, secret: string, at = Date.now()) =>
  stripe.webhooks.constructEventAsync(post.body, post.signature, secret, 300, undefined, at).then(
    () => true,
    () => false,
  );

async function register(url: string, events: readonly string[] = ['sent', 'delivered']) {
  const { status, body } = await world.test.post('/v1/webhooks', { url, events });
  expect(status).toBe(201);
  return body.data as { readonly id: string; readonly secret: string };
}

const remove = async (id: string) => expect((await world.test.delete(`/v1/webhooks/${id}`)).status).toBe(204);

test('what a new delivery is about comes with its first attempt, and is read for any further one', async () => {
  using receiver = openReceiver();
  const { id } = await register(receiver.url, ['sent']);
  const asked = spyOn(world.service.database, 'query');
  const reads = () => asked.mock.calls.filter(([text]) => text.includes('d.event as given')).length;
  try {
    await world.send();
    const [first] = await receiver.until(1);
    expect(reads()).toBe(0);
    const deliveryOf = async () => (await world.test.get(`/v1/webhooks/${id}/deliveries`)).body.data[0];
    const delivery = await eventually('success', async () => {
      const one = await deliveryOf();
      return one.status === 'success' ? one : undefined;
    });
    const again = await world.test.post(`/v1/webhooks/${id}/deliveries/${delivery.id}/redeliver`);
    expect(again.status).toBe(200);
    const [, second] = await receiver.until(2);
    expect(reads()).toBe(1);
    expect(second?.body).toBe(first?.body as string);
  } finally {
    asked.mockRestore();
    await remove(id);
  }
});

describe('an endpoint', () => {
  test('is created, shown, changed, rotated and deleted; its secret is shown twice and never again', async () => {
    const url = 'http://127.0.0.1:9/hook';
    const made = (await world.test.post('/v1/webhooks', { url, events: ['bounced', 'sent'] })).body.data;
    expect(made).toEqual({
      id: expect.stringMatching(/^wh_[0-9a-z]{24}$/),
      url,
      events: ['bounced', 'sent'],
      status: 'active',
      secretPrefix: `${made.secret.slice(0, 10)}…`,
      failureCount: 0,
      lastFailures: [],
      disabledAt: null,
      disabledReason: null,
      createdAt: expect.any(String),
      updatedAt: made.createdAt,
      secret: expect.stringMatching(/^whsec_[\w-]{43}$/),
    });
    const { secret: _, ...shown } = made;
    expect((await world.test.get(`/v1/webhooks/${made.id}`)).body.data).toEqual(shown);
    expect((await world.test.get('/v1/webhooks')).body.data).toEqual([shown]);

    const patched = await world.test.patch(`/v1/webhooks/${made.id}`, {
      events: ['opened'],
      status: 'disabled',
    });
    expect(patched.body.data).toEqual({
      ...shown,
      events: ['opened'],
      status: 'disabled',
      disabledReason: 'request',
      disabledAt: expect.stringMatching(/^20.+Z$/),
      updatedAt: expect.stringMatching(/^20.+Z$/),
    });
    expect((await world.test.post(`/v1/webhooks/${made.id}/test`)).body.error.code).toBe('CONFLICT');

    const rotated = (await world.test.post(`/v1/webhooks/${made.id}/rotate-secret`)).body.data;
    expect(rotated.status).toBe('active');
    expect(rotated.secret).not.toBe(made.secret);
    expect((await world.test.get(`/v1/webhooks/${made.id}`)).body.data.secretPrefix).toBe(
      `${rotated.secret.slice(0, 10)}…`,
    );

    await remove(made.id);
    for (const reply of [
      await world.test.get(`/v1/webhooks/${made.id}`),
      await world.test.delete(`/v1/webhooks/${made.id}`),
      await world.test.patch(`/v1/webhooks/${made.id}`, { status: 'active' }),
      await world.test.post(`/v1/webhooks/${made.id}/rotate-secret`),
      await world.test.get(`/v1/webhooks/${made.id}/deliveries`),
    ])
      expect([reply.status, reply.body.error.code]).toEqual([404, 'NOT_FOUND']);
    expect((await world.test.get('/v1/webhooks')).body.data).toEqual([]);
    const { database } = world.service;
    expect(
      await database.query('select 1 as one from webhook_secrets where webhook_id = $1', [made.id]),
    ).toEqual([]);
  });

  test('of the other environment does not exist', async () => {
    const { id } = await register('http://127.0.0.1:9/hook');
    expect((await world.live.get('/v1/webhooks')).body.data).toEqual([]);
    for (const reply of [
      await world.live.get(`/v1/webhooks/${id}`),
      await world.live.delete(`/v1/webhooks/${id}`),
      await world.live.post(`/v1/webhooks/${id}/rotate-secret`),
      await world.live.post(`/v1/webhooks/${id}/test`),
    ])
      expect(reply.status).toBe(404);
    await remove(id);
  });

  test('is refused with what is wrong', async () => {
    const refused = async (body: unknown) => {
      const reply = await world.test.post('/v1/webhooks', body);
      return [reply.status, reply.body.error.details?.map(({ path }: { path: string }) => path)];
    };
    const events = ['sent'];
    expect(await refused({ url: 'ftp://example.com', events })).toEqual([422, ['/body/url']]);
    expect(await refused({ url: 'https://u:p@example.com/', events })).toEqual([422, ['/body/url']]);
    expect(await refused({ url: 'https://example.com/', events: ['sent', 'exploded'] })).toEqual([
      422,
      ['/body/events/1'],
    ]);
    expect(await refused({ url: 'https://example.com/', events: [] })).toEqual([422, ['/body/events']]);
    const { id } = await register('http://127.0.0.1:9/hook');
    expect((await world.test.patch(`/v1/webhooks/${id}`, {})).status).toBe(422);
    expect((await world.test.patch(`/v1/webhooks/${id}`, { url: 'http://169.254.169.254/' })).status).toBe(
      422,
    );
    await remove(id);
  });

  test('is the twentieth at most, exactly, however many are asked for at once; a deleted one makes room', async () => {
    const url = 'http://127.0.0.1:9/hook';
    const make = () => world.live.post('/v1/webhooks', { url, events: ['sent'] });
    const replies = await Promise.all(Array.from({ length: 30 }, make));
    expect(replies.filter(({ status }) => status === 201)).toHaveLength(20);
    expect(
      new Set(replies.filter(({ status }) => status !== 201).map(({ body }) => body.error.code)),
    ).toEqual(new Set(['QUOTA_EXCEEDED']));
    const all = (await world.live.get('/v1/webhooks')).body.data as { id: string }[];
    expect(all).toHaveLength(20);
    await world.live.delete(`/v1/webhooks/${all[0]?.id}`);
    const again = await Promise.all([make(), make()]);
    expect(again.map(({ status }) => status).sort()).toEqual([201, 429]);
    for (const { id } of (await world.live.get('/v1/webhooks')).body.data)
      await world.live.delete(`/v1/webhooks/${id}`);
  });

  test('is made once for one Idempotency-Key, and no secret lies in clear text', async () => {
    const body = { url: 'http://127.0.0.1:9/hook', events: ['sent'] };
    const key = { 'idempotency-key': crypto.randomUUID() };
    const first = await world.test.post('/v1/webhooks', body, key);
    const second = await world.test.post('/v1/webhooks', body, key);
    expect(second.headers.get('idempotency-replayed')).toBe('true');
    expect(second.body).toEqual(first.body);
    const { id, secret } = first.body.data;
    const again = { 'idempotency-key': crypto.randomUUID() };
    const rotated = await world.test.post(`/v1/webhooks/${id}/rotate-secret`, undefined, again);
    const replayed = await world.test.post(`/v1/webhooks/${id}/rotate-secret`, undefined, again);
    expect(replayed.body).toEqual(rotated.body);
    expect((await world.test.get('/v1/webhooks')).body.data).toHaveLength(1);

    const { database } = world.service;
    const tables = await database.query<{ name: string }>(
      `select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')`,
    );
    expect(tables.length).toBeGreaterThan(10);
    for (const { name } of tables)
      for (const shown of [secret, rotated.body.data.secret]) {
        const [row] = await database.query<{ n: number }>(
          `select count(*)::integer as n from ${name} t where t::text like '%' || $1 || '%'`,
          [shown],
        );
        expect({ name, n: row?.n }).toEqual({ name, n: 0 });
      }
    await remove(id);
  });
});

describe('deliveries', () => {
  test('reach every endpoint of the environment that subscribes to the type, and no other', async () => {
    using receiver = openReceiver();
    const both = await register(`${receiver.url}/both`);
    const one = await register(`${receiver.url}/one`, ['delivered']);
    const none = await register(`${receiver.url}/none`, ['clicked']);
    const disabled = await register(`${receiver.url}/disabled`);
    await world.test.patch(`/v1/webhooks/${disabled.id}`, { status: 'disabled' });
    const live = await world.live.post('/v1/webhooks', { url: `${receiver.url}/live`, events: ['sent'] });
    const emailId = await world.send();
    await receiver.until(3);
    const seen = receiver.received.map(({ path, event }) => `${path} ${event.type}`).sort();
    expect(seen).toEqual(['/hook/both delivered', '/hook/both sent', '/hook/one delivered']);

    const events = (await world.test.get(`/v1/emails/${emailId}/events`)).body.data;
    for (const { body, event } of receiver.received)
      expect(JSON.parse(body)).toEqual(events.find(({ id }: { id: string }) => id === event.id));
    const { rows } = await deliveriesOf(both.id, 2);
    expect(rows).toEqual(
      expect.arrayContaining([
        {
          id: expect.stringMatching(/^dlv_[0-9a-z]{24}$/),
          webhookId: both.id,
          eventId: events[0].id,
          eventType: 'sent',
          emailId,
          status: 'success',
          httpStatus: 200,
          responseBody: 'ok',
          retryCount: 0,
          attemptedAt: expect.any(String),
          durationMs: expect.any(Number),
          error: null,
          stopReason: null,
          nextAttemptAt: null,
        },
      ]),
    );
    expect(rows[0]?.id.slice(4, 14)).toBe(rows[0]?.eventId.slice(4, 14));
    for (const { id } of [both, one, none, disabled]) await remove(id);
    await world.live.delete(`/v1/webhooks/${live.body.data.id}`);
  });

  test('verify with the Stripe SDK unchanged; a changed body, a stale t and another secret do not', async () => {
    using receiver = openReceiver();
    const { id, secret } = await register(receiver.url);
    await Promise.all(Array.from({ length: 25 }, () => world.send()));
    const posts = await receiver.until(50);
    for (const post of posts) {
      expect(post.webhookId).toBe(id);
      expect(await verifies(post, secret)).toBe(true);
      const changed = post.body.replace(/"sent"|"delivered"/, '"clicked"');
      expect(await verifies({ ...post, body: changed }, secret)).toBe(false);
      expect(await verifies(post, secret, Date.now() + 400_000)).toBe(false);
    }
    const rotated = (await world.test.post(`/v1/webhooks/${id}/rotate-secret`)).body.data;
    await world.send();
    for (const post of (await receiver.until(52)).slice(50)) {
      expect(await verifies(post, secret)).toBe(false);
      expect(await verifies(post, rotated.secret)).toBe(true);
    }
    await remove(id);
  });

  test('of the test event say that it is one', async () => {
    using receiver = openReceiver();
    const { id, secret } = await register(receiver.url, ['clicked']);
    const key = { 'idempotency-key': crypto.randomUUID() };
    expect((await world.test.post(`/v1/webhooks/${id}/test`, undefined, key)).body).toEqual({
      data: { queued: true },
    });
    const [post] = await receiver.until(1);
    expect(JSON.parse(post?.body ?? '')).toEqual({
      id: expect.stringMatching(/^evt_/),
      type: 'delivered',
      emailId: expect.stringMatching(/^em_/),
      recipient: 'delivered@simulator.svc.test',
      occurredAt: expect.any(String),
      data: { remoteMta: null, response: expect.any(String), isTest: true },
      livemode: false,
    });
    expect(await verifies(post as Received, secret)).toBe(true);
    // Said once: neither the key again nor the log brings it back, even when the endpoint has been disabled
    // since.
    await world.test.patch(`/v1/webhooks/${id}`, { status: 'disabled' });
    const again = await world.test.post(`/v1/webhooks/${id}/test`, undefined, key);
    expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([200, 'true']);
    expect((await world.test.get(`/v1/webhooks/${id}/deliveries`)).body.data).toHaveLength(1);
    await remove(id);
  });

  test('are listed in pages, newest event first', async () => {
    using receiver = openReceiver();
    const { id } = await register(receiver.url);
    for (let i = 0; i < 3; i += 1) await world.send();
    await receiver.until(6);
    const { rows } = await deliveriesOf(id, 6);
    const seen: string[] = [];
    let after = '';
    for (let page = 0; page < 3; page += 1) {
      const { body } = await world.test.get(`/v1/webhooks/${id}/deliveries?limit=2${after}`);
      seen.push(...body.data.map((each: { id: string }) => each.id));
      after = `&after=${body.pagination.nextCursor}`;
      expect(body.pagination.hasMore).toBe(page < 2);
    }
    expect(seen).toEqual(rows.map((each) => each.id));
    expect(seen).toEqual([...seen].sort().reverse());
    const other = await register(receiver.url);
    expect((await world.test.get(`/v1/webhooks/${other.id}/deliveries?limit=2${after}`)).status).toBe(422);
    await remove(id);
    await remove(other.id);
  });

  test('are listed by status, and what was skipped apart from what has failed', async () => {
    using receiver = openReceiver();
    const from = new Date().toISOString();
    const { id } = await register(receiver.url);
    for (let i = 0; i < 3; i += 1) await world.send();
    await deliveriesOf(id, 6);
    receiver.answer = () => new Response('no', { status: 500 });
    await world.send();
    const list = async (filter: string): Promise<readonly Row[]> =>
      (await world.test.get(`/v1/webhooks/${id}/deliveries?limit=100${filter}`)).body.data;
    await eventually('two wait for a retry', async () =>
      (await list('&status=scheduled&attempted=true')).length === 2 ? true : undefined,
    );
    const range = { from, to: new Date(Date.now() + 60_000).toISOString() };
    expect((await world.test.post(`/v1/webhooks/${id}/replay`, range)).body.data.queued).toBe(8);
    await world.test.patch(`/v1/webhooks/${id}`, { status: 'disabled' });
    const all = await eventually('nothing is under way', async () => {
      const rows = await list('');
      return rows.some(({ status }) => status === 'scheduled') ? undefined : rows;
    });
    const parts = {
      success: await list('&status=success'),
      failed: await list('&status=failed&attempted=true'),
      skipped: await list('&status=failed&attempted=false'),
      scheduled: await list('&status=scheduled'),
    };
    expect(parts.scheduled).toEqual([]);
    expect(parts.success.length).toBeGreaterThanOrEqual(6);
    expect(parts.failed.length).toBeGreaterThanOrEqual(2);
    // The last of eight is due 140 ms after the replay.
    expect(parts.skipped.length).toBeGreaterThan(0);
    for (const row of parts.skipped)
      expect(row).toMatchObject({ attemptedAt: null, retryCount: 0, error: 'endpoint_disabled' });
    const ids = (rows: readonly Row[]) => rows.map((row) => row.id).sort();
    expect(ids(Object.values(parts).flat())).toEqual(ids(all));
    expect((await world.test.get(`/v1/webhooks/${id}/deliveries?status=skipped`)).status).toBe(422);
    await remove(id);
  });
});

interface Row {
  readonly id: string;
  readonly eventId: string;
  readonly status: string;
}

/** The deliveries to an endpoint once so many have ended. */
async function deliveriesOf(id: string, count: number): Promise<{ readonly rows: readonly Row[] }> {
  for (;;) {
    const rows = (await world.test.get(`/v1/webhooks/${id}/deliveries`)).body.data as Row[];
    if (rows.filter(({ status }) => status === 'success').length >= count) return { rows };
  }
}
