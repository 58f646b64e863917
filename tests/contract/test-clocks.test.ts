import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { timeOfId } from '../../src/platform/db/ids.ts';
import { eventually } from '../support/eventually.ts';
import { BOTH_DATABASES, type RealService, startRealService } from './real-service.ts';

const DAY_MS = 86_400_000;
const FROZEN = '2026-12-01T09:00:00.000Z';
const at = (days: number): string => new Date(Date.parse(FROZEN) + days * DAY_MS).toISOString();

describe.each(BOTH_DATABASES)('test clocks on %s', (_, environment) => {
  let service: RealService;
  let key: string;
  let live: string;
  beforeAll(async () => {
    service = await startRealService(environment);
    key = await service.keyWith('test', ['*']);
    live = await service.keyWith('live', ['*']);
  });
  afterAll(() => service[Symbol.asyncDispose]());

  const ask = (method: string, path: string, body?: unknown, by = key) =>
    service.ask({ method, path, key: by, ...(body === undefined ? {} : { body }) });
  const query = (text: string, parameters: readonly unknown[]) =>
    service.service.database.query<{ n: number }>(text, parameters as never);

  const aClock = async (): Promise<string> => {
    const told = await ask('POST', '/v1/test-clocks', { name: 'Reminders', startAt: FROZEN });
    expect(told.status).toBe(201);
    return told.body.data.id;
  };
  const ready = (id: string) =>
    eventually('the clock is ready', async () => {
      const { data } = (await ask('GET', `/v1/test-clocks/${id}`)).body;
      return data.status === 'ready' ? data : undefined;
    });
  const advance = async (id: string, body: unknown) => {
    const told = await ask('POST', `/v1/test-clocks/${id}/advance`, body);
    expect([told.status, told.body.data?.status]).toEqual([200, 'ready']);
    return told.body.data;
  };
  const send = (to: string, more: object, by = key) =>
    ask(
      'POST',
      '/v1/emails',
      { from: 'shop@acme.example', to: `${to}@simulator.svc.test`, subject: 'Hello', text: 'x', ...more },
      by,
    );
  const sent = async (to: string, more: object): Promise<string> => {
    const told = await send(to, more);
    expect(told.status).toBe(202);
    return told.body.data.id;
  };
  const email = async (id: string) => (await ask('GET', `/v1/emails/${id}`)).body.data;
  const refusal = ({ status, body }: Awaited<ReturnType<typeof ask>>) => [status, body.error?.code];
  const places = ({ body }: Awaited<ReturnType<typeof ask>>) =>
    body.error?.details?.map(({ path }: { path: string }) => path);

  test('an email that is scheduled by a clock leaves when the clock has come there', async () => {
    const clock = await aClock();
    const id = await sent('delivered', { testClockId: clock, scheduledAt: at(29) });
    expect(await email(id)).toMatchObject({ status: 'scheduled', testClockId: clock });
    const listed = await ask('GET', '/v1/emails?status=scheduled');
    expect(listed.body.data.map((item: { id: string }) => item.id)).toContain(id);
    expect(await advance(clock, { by: { amount: 4, unit: 'weeks' } })).toMatchObject({ now: at(28) });
    expect((await email(id)).status).toBe('scheduled');
    expect(await advance(clock, { to: at(30) })).toMatchObject({
      now: at(30),
      advancingTo: null,
      emails: 1,
    });
    const after = await email(id);
    expect(after).toMatchObject({ status: 'delivered', sentAt: at(29), deliveredAt: at(29) });
    expect(after.events.map((event: { occurredAt: string }) => event.occurredAt)).toEqual([at(29), at(29)]);
  });

  test('an email that is sent at once leaves at the time of the clock, which does not move', async () => {
    const clock = await aClock();
    const id = await sent('opened', { testClockId: clock });
    const done = await eventually('it is opened', async () => {
      const found = await email(id);
      return found.lastEvent === 'opened' ? found : undefined;
    });
    expect([done.sentAt, done.deliveredAt]).toEqual([FROZEN, FROZEN]);
  });

  test('retries wait by the clock as those of live mail do, until they run out after 72 hours', async () => {
    const clock = await aClock();
    const id = await sent('expired', { testClockId: clock });
    await eventually('it is deferred', async () => (await email(id)).status === 'deferred' || undefined);
    await advance(clock, { by: { amount: 71, unit: 'hours' } });
    expect((await email(id)).status).toBe('deferred');
    await advance(clock, { by: { amount: 9, unit: 'hours' } });
    expect(await email(id)).toMatchObject({
      status: 'failed',
      failureReason: 'expired',
      lastEvent: 'bounced',
    });
  });

  test('an email is moved and cancelled by the time of its clock', async () => {
    const clock = await aClock();
    const schedule = { testClockId: clock, scheduledAt: at(1) };
    const [moved, cancelled] = [await sent('delivered', schedule), await sent('delivered', schedule)];
    expect((await ask('PATCH', `/v1/emails/${moved}`, { scheduledAt: at(20) })).status).toBe(200);
    expect(places(await ask('PATCH', `/v1/emails/${moved}`, { scheduledAt: at(-1) }))).toEqual([
      '/body/scheduledAt',
    ]);
    expect((await ask('DELETE', `/v1/emails/${cancelled}`)).body.data.status).toBe('cancelled');
    await advance(clock, { by: { amount: 10, unit: 'days' } });
    expect((await email(moved)).status).toBe('scheduled');
    expect((await email(cancelled)).status).toBe('cancelled');
    await advance(clock, { by: { amount: 10, unit: 'days' } });
    expect(await email(moved)).toMatchObject({ status: 'delivered', sentAt: at(20) });
  });

  test('an email that is moved to the time of its clock leaves at once', async () => {
    const clock = await aClock();
    const id = await sent('delivered', { testClockId: clock, scheduledAt: at(1) });
    // So long ago that no instance watches its beginning any more.
    await query('update test_clocks set entered_at = null where id = $1 returning 1 as n', [clock]);
    expect((await ask('PATCH', `/v1/emails/${id}`, { scheduledAt: FROZEN })).status).toBe(200);
    const gone = await eventually('it has left', async () => {
      const found = await email(id);
      return found.status === 'delivered' ? found : undefined;
    });
    expect(gone).toMatchObject({ sentAt: FROZEN });
  });

  test('whatever time a clock shows, its events and their deliveries are kept, and sent again, by the real one', async () => {
    const url = 'https://example.com/hook';
    const hook = await ask('POST', '/v1/webhooks', { url, events: ['sent', 'delivered'] });
    const began = Date.parse(hook.body.data.createdAt);
    const path = `/v1/webhooks/${hook.body.data.id}`;
    // No server takes them, and a day of failed retries pauses an endpoint.
    const active = () => ask('PATCH', path, { status: 'active' });
    for (const years of [-9, 9]) {
      await active();
      const startAt = new Date(began + years * 365 * DAY_MS).toISOString();
      const clock = (await ask('POST', '/v1/test-clocks', { startAt })).body.data.id;
      const id = await sent('deferred', { testClockId: clock });
      await advance(clock, { by: { amount: 1, unit: 'days' } });
      const { events } = await email(id);
      expect(events.map(({ type }: { type: string }) => type)).toEqual(['sent', 'delivered']);
      const named = await query('select id as n from webhook_deliveries where email_id = $1', [id]);
      expect(named).toHaveLength(2);
      for (const known of [
        ...events.map((event: { id: string }) => event.id),
        ...named.map(({ n }) => `${n}`),
      ])
        expect(Math.abs(timeOfId(known) - began)).toBeLessThan(DAY_MS);
    }
    const [from, to] = [began, began + DAY_MS].map((moment) => new Date(moment).toISOString());
    await active();
    const replay = await ask('POST', `${path}/replay`, { from, to });
    expect([replay.status, replay.body.data.queued]).toEqual([200, 4]);
    await ask('DELETE', path);
  });

  test('a header joins all emails of a request, and an advance says how much happened', async () => {
    const [clock, other] = [await aClock(), await aClock()];
    const join = (path: string, body: object, headers = { 'x-svc-test-clock': clock }) =>
      service.ask({ method: 'POST', path, key, body, headers });
    const one = { from: 'a@acme.example', to: 'a@example.com', subject: 's', text: 'x', scheduledAt: at(1) };
    const single = await join('/v1/emails', one);
    const { body } = await join('/v1/emails/batch', { emails: [one, { ...one, testClockId: other }] });
    const ids: string[] = [single.body.data.id, ...body.data.map((item: { id: string }) => item.id)];
    const clocks = await Promise.all(ids.map(async (id) => (await email(id)).testClockId));
    expect(clocks).toEqual([clock, clock, other]);
    const journals = await query(`select count(*)::integer as n from email_turns where email_id = any($1)`, [
      ids.slice(0, 2),
    ]);
    const told = await advance(clock, { by: { amount: 2, unit: 'days' } });
    const [after] = await query(`select count(*)::integer as n from email_turns where email_id = any($1)`, [
      ids.slice(0, 2),
    ]);
    expect(told.ran).toBe((after?.n ?? 0) - (journals[0]?.n ?? 0));
    expect(told.ran).toBeGreaterThanOrEqual(2);
    expect((await email(ids[2] ?? '')).status).toBe('scheduled');
    const strange = await join('/v1/emails', one, { 'x-svc-test-clock': 'no clock' });
    expect(refusal(strange)).toEqual([404, 'NOT_FOUND']);
  });

  test('every email of a batch may have its own clock', async () => {
    const clock = await aClock();
    const one = {
      from: 'shop@acme.example',
      to: 'a@example.com',
      subject: 's',
      text: 'x',
      scheduledAt: at(1),
    };
    const emails = [
      { ...one, testClockId: clock },
      { ...one, testClockId: 'clk_01m7xj1rx757g9bp0f4tggst' },
    ];
    const told = await ask('POST', '/v1/emails/batch', { emails });
    expect(told.body.data.map((item: { id?: string }) => 'id' in item)).toEqual([true, false]);
  });

  test('the clock of a deleted one is gone, with what it had scheduled', async () => {
    const clock = await aClock();
    const id = await sent('delivered', { testClockId: clock, scheduledAt: at(1) });
    const open = await sent('expired', { testClockId: clock });
    expect((await ask('DELETE', `/v1/test-clocks/${clock}`)).status).toBe(204);
    expect((await email(id)).status).toBe('cancelled');
    expect((await email(open)).status).toBe('deferred');
    expect(refusal(await ask('GET', `/v1/test-clocks/${clock}`))).toEqual([404, 'NOT_FOUND']);
    expect(refusal(await send('delivered', { testClockId: clock }))).toEqual([404, 'NOT_FOUND']);
    expect(refusal(await ask('PATCH', `/v1/emails/${open}`, { scheduledAt: at(2) }))).toEqual([
      409,
      'CONFLICT',
    ]);
  });

  test('a clock that advances takes nothing until it is ready', async () => {
    const clock = await aClock();
    const id = await sent('delivered', { testClockId: clock, scheduledAt: at(1) });
    // Another instance moves it, which is slow.
    await eventually('its beginning is settled', async () => {
      const taken = await query(
        `update test_clocks set status = 'advancing', target_at = now_at + interval '2 days', leased_by = 'another',
           leased_until = now() + interval '1 hour' where id = $1 and leased_by is null returning 1 as n`,
        [clock],
      );
      return taken.length > 0 || undefined;
    });
    const told = [
      await send('delivered', { testClockId: clock }),
      await ask('PATCH', `/v1/emails/${id}`, { scheduledAt: at(2) }),
      await ask('DELETE', `/v1/emails/${id}`),
      await ask('POST', `/v1/test-clocks/${clock}/advance`, { by: { amount: 1, unit: 'days' } }),
      await ask('DELETE', `/v1/test-clocks/${clock}`),
    ];
    expect(told.map(refusal)).toEqual(told.map(() => [409, 'CONFLICT']));
    // That one dies, and its lease ends.
    await query('update test_clocks set leased_until = now() where id = $1', [clock]);
    expect(await ready(clock)).toMatchObject({ now: at(2) });
    expect((await email(id)).status).toBe('delivered');
  });

  test('a service that stops answers who waits for a clock, which goes on elsewhere', async () => {
    await using stopping = await startRealService(environment);
    const by = { key: await stopping.keyWith('test', ['*']) };
    const { body } = await stopping.ask({ method: 'POST', path: '/v1/test-clocks', ...by, body: {} });
    const path = `/v1/test-clocks/${body.data.id}/advance`;
    // Another instance has the lease, so that this one only looks.
    await stopping.service.database.query(
      `update test_clocks set leased_by = 'another', leased_until = now() + interval '1 hour'`,
    );
    const told = stopping.ask({ method: 'POST', path, ...by, body: { by: { amount: 1, unit: 'days' } } });
    await eventually('it is on its way', async () => {
      const rows = await stopping.service.database.query(
        `select id from test_clocks where status = 'advancing'`,
      );
      return rows.length > 0 || undefined;
    });
    stopping.service.endWaits();
    expect((await told).body.data).toMatchObject({ status: 'advancing', ran: 0 });
  });

  test('the repetition of an advance whose answer was lost is answered once the advance is over', async () => {
    const clock = await aClock();
    const id = await sent('delivered', { testClockId: clock, scheduledAt: at(1) });
    await eventually('its beginning is settled', async () => {
      const taken = await query(
        `update test_clocks set leased_by = 'another', leased_until = now() + interval '1 hour'
         where id = $1 and leased_by is null returning 1 as n`,
        [clock],
      );
      return taken.length > 0 || undefined;
    });
    const asking = {
      method: 'POST',
      path: `/v1/test-clocks/${clock}/advance`,
      key,
      body: { by: { amount: 2, unit: 'days' } },
      headers: { 'idempotency-key': `lost ${clock}`.replace(' ', '-') },
    };
    const leaving = new AbortController();
    const lost = fetch(service.url + asking.path, {
      method: 'POST',
      headers: { ...asking.headers, authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(asking.body),
      signal: leaving.signal,
    }).catch(() => 'lost');
    await eventually('it is on its way', async () => {
      const { data } = (await ask('GET', `/v1/test-clocks/${clock}`)).body;
      return data.status === 'advancing' || undefined;
    });
    leaving.abort();
    expect(await lost).toBe('lost');
    await query('update test_clocks set leased_until = now() where id = $1 returning 1 as n', [clock]);
    const again = () =>
      eventually('the first one is not being processed any more', async () => {
        const told = await service.ask(asking);
        return told.status === 200 ? told.body.data : undefined;
      });
    const told = await again();
    expect(told).toMatchObject({ status: 'ready', now: at(2), advancingTo: null });
    expect(told.ran).toBeGreaterThan(0);
    expect((await email(id)).status).toBe('delivered');
    await advance(clock, { by: { amount: 1, unit: 'days' } });
    expect(await again()).toEqual(told);
  });

  test('times that no clock can go to are refused where they stand', async () => {
    const clock = await aClock();
    const to = (moment: unknown) => ask('POST', `/v1/test-clocks/${clock}/advance`, moment);
    expect(places(await to({}))).toEqual(['/body']);
    expect(places(await to({ to: at(1), by: { amount: 1, unit: 'days' } }))).toEqual(['/body']);
    expect(places(await to({ to: FROZEN }))).toEqual(['/body/to']);
    expect(places(await to({ to: 'tomorrow' }))).toEqual(['/body/to']);
    expect(places(await to({ to: new Date(Date.parse(at(731)) + 1).toISOString() }))).toEqual(['/body/to']);
    expect(places(await to({ by: { amount: 732, unit: 'days' } }))).toEqual(['/body/by']);
    expect(places(await to({ by: { amount: 0, unit: 'days' } }))).toEqual(['/body/by/amount']);
    expect(await advance(clock, { to: at(731) })).toMatchObject({ now: at(731) });
    const made = (days: number) => {
      const frozenTime = new Date(Date.now() + days * DAY_MS).toISOString();
      return ask('POST', '/v1/test-clocks', { name: 'Far', startAt: frozenTime });
    };
    expect(places(await made(3_654))).toEqual(['/body/startAt']);
    expect(places(await made(-3_654))).toEqual(['/body/startAt']);
    const furthest = await made(3_652);
    expect(furthest.status).toBe(201);
    const beyond = await ask('POST', `/v1/test-clocks/${furthest.body.data.id}/advance`, {
      by: { amount: 2, unit: 'days' },
    });
    expect(places(beyond)).toEqual(['/body/by']);
  });

  test('a live key is refused with a reason, and its email too', async () => {
    const clock = await aClock();
    const told = [
      await ask('POST', '/v1/test-clocks', { name: 'Live' }, live),
      await ask('GET', '/v1/test-clocks', undefined, live),
      await ask('GET', `/v1/test-clocks/${clock}`, undefined, live),
      await ask('POST', `/v1/test-clocks/${clock}/advance`, { by: { amount: 1, unit: 'days' } }, live),
      await ask('DELETE', `/v1/test-clocks/${clock}`, undefined, live),
      await send('delivered', { testClockId: clock }, live),
    ];
    for (const { status, body } of told)
      expect([status, body.error.message]).toEqual([
        403,
        'Test clocks are for test keys alone: live email goes by the real time.',
      ]);
    expect(await ready(clock)).toMatchObject({ now: FROZEN, emails: 0 });
  });

  test('what a key may do with emails it may do with clocks', async () => {
    const clock = await aClock();
    const reads = await service.keyWith('test', ['emails:read']);
    expect((await ask('GET', `/v1/test-clocks/${clock}`, undefined, reads)).status).toBe(200);
    expect(refusal(await ask('POST', '/v1/test-clocks', { name: 'x' }, reads))).toEqual([403, 'FORBIDDEN']);
    const advanced = ask('POST', `/v1/test-clocks/${clock}/advance`, { to: at(1) }, reads);
    expect(refusal(await advanced)).toEqual([403, 'FORBIDDEN']);
  });

  test('the thousandth email of a clock is its last one', async () => {
    const clock = await aClock();
    const more = { testClockId: clock, scheduledAt: at(1) };
    await query('update test_clocks set emails = 999 where id = $1 returning 1 as n', [clock]);
    const refused = await send('nobody', more);
    expect(refused.status).toBe(422);
    expect((await send('delivered', more)).status).toBe(202);
    expect(refusal(await send('delivered', more))).toEqual([409, 'CONFLICT']);
    expect(await ready(clock)).toMatchObject({ emails: 1_000 });
  });

  test('a workspace has twenty clocks, in pages', async () => {
    const [present] = await query('select count(*)::integer as n from test_clocks', []);
    for (let left = 20 - (present?.n ?? 0); left > 0; left--) await aClock();
    expect(refusal(await ask('POST', '/v1/test-clocks', { name: 'One more' }))).toEqual([409, 'CONFLICT']);
    const first = (await ask('GET', '/v1/test-clocks?limit=12')).body;
    const second = (await ask('GET', `/v1/test-clocks?limit=12&after=${first.pagination.nextCursor}`)).body;
    expect([first.data.length, second.data.length, second.pagination.hasMore]).toEqual([12, 8, false]);
    const ids = [...first.data, ...second.data].map(({ id }: { id: string }) => id);
    expect(ids).toEqual([...new Set(ids)].toSorted().reverse());
  });
});
