import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { eventually } from '../support/eventually.ts';
import { type RealService, startRealService } from './real-service.ts';

const FROZEN = '2026-12-01T09:00:00.000Z';
const after = (ms: number): string => new Date(Date.parse(FROZEN) + ms).toISOString();
const MINUTE = 60_000;
const DAY = 86_400_000;

// A script is a member of the machine's context: no statement is about it, so that one database is enough.
describe('scripted outcomes', () => {
  let service: RealService;
  let key: string;
  let live: string;
  beforeAll(async () => {
    service = await startRealService();
    key = await service.keyWith('test', ['*']);
    live = await service.keyWith('live', ['*']);
  });
  afterAll(() => service[Symbol.asyncDispose]());

  const message = { from: 'shop@acme.example', to: 'ada@example.com', subject: 'Hello', text: 'x' };
  const send = (headers: Readonly<Record<string, string>>, more: object = {}, by = key) =>
    service.ask({ method: 'POST', path: '/v1/emails', key: by, body: { ...message, ...more }, headers });
  const email = async (id: string) =>
    (await service.ask({ method: 'GET', path: `/v1/emails/${id}`, key })).body.data;
  const aClock = async (): Promise<string> => {
    const asked = { method: 'POST', path: '/v1/test-clocks', key, body: { startAt: FROZEN } };
    return (await service.ask(asked)).body.data.id;
  };
  const advance = (clock: string, by: { amount: number; unit: string }) =>
    service.ask({ method: 'POST', path: `/v1/test-clocks/${clock}/advance`, key, body: { by } });
  const happened = ({ events }: { events: readonly { type: string; occurredAt: string }[] }) =>
    events.map(({ type, occurredAt }) => [type, occurredAt]);
  const places = ({ body }: Awaited<ReturnType<typeof send>>) =>
    body.error?.details?.map(({ path }: { path: string }) => path);

  test('by a test clock a script takes the time that it says', async () => {
    const clock = await aClock();
    const script = 'deferred*2, delivered, opened+5m, bounced+3d';
    const told = await send({ 'x-svc-test-clock': clock, 'x-svc-simulate': script });
    expect(told.status).toBe(202);
    const { id } = told.body.data;
    expect((await advance(clock, { amount: 1, unit: 'hours' })).body.data.status).toBe('ready');
    // The waits of live mail lie between the attempts: a minute, then five.
    const taken = 6 * MINUTE;
    const begun = [
      ['sent', after(taken)],
      ['delivered', after(taken)],
      ['opened', after(taken + 5 * MINUTE)],
    ];
    expect(happened(await email(id))).toEqual(begun);
    await advance(clock, { amount: 4, unit: 'days' });
    const done = await email(id);
    expect(happened(done)).toEqual([...begun, ['bounced', after(taken + 5 * MINUTE + 3 * DAY)]]);
    expect(done).toMatchObject({ status: 'failed', failureReason: 'bounced', deliveredAt: after(taken) });
    expect(done.events.at(-1).data.type).toBe('Permanent');
  });

  test('as many deferrals as the attempts of 72 hours leave room for can be fulfilled, and more are refused', async () => {
    const clock = await aClock();
    const asked = (script: string) => send({ 'x-svc-test-clock': clock, 'x-svc-simulate': script });
    const last = await asked('deferred*24, delivered');
    expect(last.status).toBe(202);
    await advance(clock, { amount: 72, unit: 'hours' });
    const taken = await eventually('it was taken', async () => {
      const found = await email(last.body.data.id);
      return found.deliveredAt === null ? undefined : found;
    });
    expect(taken).toMatchObject({ status: 'delivered', deliveredAt: after(3 * DAY) });

    const refused = await asked('deferred*25, delivered');
    expect([refused.status, places(refused)]).toEqual([422, ['/headers/x-svc-simulate']]);
    expect(refused.body.error.details[0].message).toContain('at most 24 times');
    const inBody = await send({}, { testClockId: clock, simulate: 'deferred*25, bounced' });
    expect([inBody.status, places(inBody)]).toEqual([422, ['/body/simulate']]);
    const never = { testClockId: await aClock(), simulate: 'deferred*30, expired' };
    expect((await send({}, never)).status).toBe(202);
    // In real time the attempts of test mail are seconds apart.
    expect((await send({ 'x-svc-simulate': 'deferred*25, delivered' })).status).toBe(202);
  });

  test('in real time a script goes on by itself, for all recipients alike', async () => {
    const to = ['bounced@simulator.svc.test', 'ada@example.com'];
    const told = await send({ 'x-svc-simulate': 'delivered, opened*2+1s' }, { to });
    const seen = await eventually('both have opened it twice', async () => {
      const found = await email(told.body.data.id);
      return found.events.length === 8 ? found : undefined;
    });
    for (const recipient of to) {
      const own = seen.events.filter((event: { recipient: string }) => event.recipient === recipient);
      expect(own.map(({ type }: { type: string }) => type)).toEqual([
        'sent',
        'delivered',
        'opened',
        'opened',
      ]);
      const [, delivered, first, second] = own.map((event: { occurredAt: string }) =>
        Date.parse(event.occurredAt),
      );
      expect(first - delivered).toBeGreaterThanOrEqual(1_000);
      expect(second - first).toBeGreaterThanOrEqual(1_000);
    }
    expect(seen.status).toBe('delivered');
    const asked = { method: 'GET', path: `/v1/emails/${seen.id}/explain`, key };
    const { evidence, next } = (await service.ask(asked)).body.data;
    expect(JSON.stringify(evidence)).toContain('An outcome of its script came in');
    expect(next.at).toBeNull();
  });

  test('webhooks and lists get an outcome like any other', async () => {
    const told = await send({ 'x-svc-simulate': 'deferred*2, bounced' });
    const seen = await eventually('it has bounced', async () => {
      const found = await email(told.body.data.id);
      return found.status === 'failed' ? found : undefined;
    });
    expect(seen).toMatchObject({ failureReason: 'bounced', lastEvent: 'bounced' });
    const suppressed = await service.ask({ method: 'GET', path: '/v1/suppressions', key });
    expect(suppressed.body.data).toEqual([]);
  });

  test('in a batch each email may have its own script', async () => {
    const batch = (emails: readonly object[], script: string) =>
      service.ask({
        method: 'POST',
        path: '/v1/emails/batch',
        key,
        body: { emails: emails.map((one) => ({ ...message, ...one })) },
        headers: { 'x-svc-simulate': script },
      });
    const told = await batch([{}, { simulate: 'suppressed' }, { simulate: 'nonsense' }], 'bounced');
    expect(told.status).toBe(202);
    const [one, other, wrong] = told.body.data;
    const reasonOf = (id: string) =>
      eventually('it has failed', async () => (await email(id)).failureReason ?? undefined);
    expect([await reasonOf(one.id), await reasonOf(other.id)]).toEqual(['bounced', 'suppressed']);
    expect(wrong.error.details.map(({ path }: { path: string }) => path)).toEqual([
      '/body/emails/2/simulate',
    ]);
    const refused = await batch([{}], 'delivered, delivered');
    expect([refused.status, places(refused)]).toEqual([422, ['/headers/x-svc-simulate']]);
  });

  test('with one idempotency key, another script or another clock is another request', async () => {
    const asked = { 'idempotency-key': crypto.randomUUID(), 'x-svc-simulate': 'bounced' };
    const batched = { 'idempotency-key': crypto.randomUUID(), 'x-svc-test-clock': await aClock() };
    const batch = (headers: Readonly<Record<string, string>>) =>
      service.ask({
        method: 'POST',
        path: '/v1/emails/batch',
        key,
        body: { emails: [message] },
        headers,
      });
    const first = await send(asked);
    const firstOfBatch = await batch(batched);
    expect([first.status, firstOfBatch.status]).toEqual([202, 202]);
    const again = await send(asked);
    expect([again.body, again.headers.get('idempotency-replayed')]).toEqual([first.body, 'true']);
    expect((await batch(batched)).body).toEqual(firstOfBatch.body);
    for (const { status, body } of [
      await send({ ...asked, 'x-svc-simulate': 'suppressed' }),
      await send({ 'idempotency-key': asked['idempotency-key'] }),
      await send({ ...asked, 'x-svc-test-clock': batched['x-svc-test-clock'] }),
      await batch({ ...batched, 'x-svc-test-clock': await aClock() }),
    ])
      expect([status, body.error.code]).toEqual([409, 'IDEMPOTENCY_CONFLICT']);
  });

  test('an invalid script is refused at its place, and a live key always', async () => {
    const refused = await send({ 'x-svc-simulate': 'opened+5weeks' });
    expect([refused.status, places(refused)]).toEqual([422, ['/headers/x-svc-simulate']]);
    const inBody = await send({}, { simulate: 'bounced*2' });
    expect([inBody.status, places(inBody)]).toEqual([422, ['/body/simulate']]);
    expect(places(await send({}, { simulate: 'x'.repeat(1_001) }))).toEqual(['/body/simulate']);
    for (const told of [
      await send({ 'x-svc-simulate': 'delivered' }, {}, live),
      await send({ 'x-svc-simulate': 'nonsense' }, {}, live),
      await send({}, { simulate: 'delivered' }, live),
    ])
      expect([told.status, told.body.error.code]).toEqual([403, 'FORBIDDEN']);
  });
});
