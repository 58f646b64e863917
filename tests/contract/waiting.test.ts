import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { IDLE_SECONDS } from '../../src/http/request/exchange.ts';
import { eventually } from '../support/eventually.ts';
import { createTestDatabase } from '../support/postgres.ts';
import { type RealService, startRealService } from './real-service.ts';

/** Two instances on one server, and one on the embedded database. */
let first: RealService;
let second: RealService;
let embedded: RealService;
let database: Awaited<ReturnType<typeof createTestDatabase>>;
const keys = new Map<RealService, Record<'live' | 'test', string>>();

beforeAll(async () => {
  database = await createTestDatabase();
  // Live mail stays here, and a domain counts as verified at once.
  const environment = { HOST: '127.0.0.1', TRANSPORT: 'capture' };
  first = await startRealService({ ...environment, DATABASE_URL: database.url });
  [second, embedded] = await Promise.all([
    startRealService({ ...environment, DATABASE_URL: database.url }),
    startRealService({ ...environment, DATABASE_URL: '' }),
  ]);
  for (const service of [first, embedded]) {
    const live = await service.keyWith('live', ['*']);
    keys.set(service, { live, test: await service.keyWith('test', ['*']) });
    await service.ask({ method: 'POST', path: '/v1/domains', key: live, body: { name: 'acme.example' } });
  }
  keys.set(second, keys.get(first) as never);
});
afterAll(async () => {
  await Promise.all([first, second, embedded].map((service) => service?.[Symbol.asyncDispose]()));
  await database?.close();
});

type Pair = readonly [RealService, RealService];

const send = async (service: RealService, env: 'live' | 'test', to: string, more: object = {}) => {
  const body = { from: 'shop@acme.example', to, subject: 'Your code is 481 516', ...CONTENT, ...more };
  const told = await service.ask({ method: 'POST', path: '/v1/emails', key: keyOf(service, env), body });
  expect(told.status).toBe(202);
  return told.body.data.id as string;
};
const CONTENT = {
  text: 'Type in 481 516, or open https://acme.example/confirm?t=3vbqk0.',
  html: '<p>Or <a href="https://acme.example/confirm?t=3vbqk0&amp;via=html">confirm</a>.</p>',
};
const keyOf = (service: RealService, env: 'live' | 'test') => keys.get(service)?.[env] ?? '';
const wait = (service: RealService, env: 'live' | 'test', query: string, path = pathOf(env)) =>
  service.ask({ path: `${path}?${query}`, key: keyOf(service, env) });
const pathOf = (env: 'live' | 'test') => (env === 'test' ? '/v1/emails/wait' : '/v1/captured/wait');
const withoutWaiting = async (query: string) =>
  (await wait(first, 'test', `${query}&timeout=0`)).body.data?.id;

describe.each(['test', 'live'] as const)('%s mail', (env) => {
  test.each([
    ['of the same instance', (): Pair => [first, first]],
    ['of another instance', (): Pair => [first, second]],
    ['on the embedded database', (): Pair => [embedded, embedded]],
  ] as const)('%s is waited for, and comes with its links and codes', async (name, instances) => {
    const [sender, waiter] = instances();
    const to = `${name.replaceAll(' ', '-')}@people.example`;
    const waiting = wait(waiter, env, `to=${to.toUpperCase()}&timeout=25`);
    const id = await send(sender, env, to);
    const { status, body } = await waiting;
    expect(status).toBe(200);
    expect(env === 'test' ? body.data.id : body.data.emailId).toBe(id);
    expect(body.data).toMatchObject({
      subject: 'Your code is 481 516',
      text: expect.stringContaining('481 516'),
      links: ['https://acme.example/confirm?t=3vbqk0&via=html', 'https://acme.example/confirm?t=3vbqk0'],
      codes: ['481516'],
    });
  });

  test('a wait ends at its timeout, with 404', async () => {
    const { status, body } = await wait(first, env, 'to=nobody@people.example&timeout=0');
    expect([status, body.error.code]).toEqual([404, 'NOT_FOUND']);
    expect(body.error.message).toContain('within 0 seconds');
  });

  test('a part of the subject selects an email, and is taken literally', async () => {
    const to = `subjects-${env}@people.example`;
    const asked = async (subject: string) => {
      const told = await wait(first, env, `to=${to}&timeout=0&subject=${encodeURIComponent(subject)}`);
      return env === 'test' ? told.body.data?.id : told.body.data?.emailId;
    };
    const off = await send(first, env, to, { subject: '50% off today' });
    const late = wait(first, env, `to=${to}&timeout=60&subject=${encodeURIComponent('order no_')}`);
    const order = await send(first, env, to, { subject: 'Your Order no_7' });
    const { body } = await late;
    expect(env === 'test' ? body.data.id : body.data.emailId).toBe(order);
    expect(await asked('50% OFF')).toBe(off);
    expect(await asked('5%f')).toBeUndefined();
    expect(await asked('no_7')).toBe(order);
    expect(await asked('n__7')).toBeUndefined();
  });
});

test('live emails are waited for as well, each environment by its own keys', async () => {
  const to = 'both@people.example';
  const path = '/v1/emails/wait';
  const waiting = wait(second, 'live', `to=${to}&timeout=25`, path);
  const inTest = await send(first, 'test', to);
  expect(await withoutWaiting(`to=${to}`)).toBe(inTest);
  const live = await send(first, 'live', to);
  const { status, body } = await waiting;
  expect([status, body.data.id, body.data.livemode]).toEqual([200, live, true]);
  // All that the email itself tells, and what was found in it.
  const detail = await first.ask({ path: `/v1/emails/${live}`, key: keyOf(first, 'live') });
  expect(Object.keys(body.data).toSorted()).toEqual(
    [...Object.keys(detail.body.data), 'links', 'codes'].toSorted(),
  );
});

test('captured mail is not waited for with a test key', async () => {
  const { status, body } = await wait(first, 'test', 'to=a@b.example', '/v1/captured/wait');
  expect([status, body.error.code]).toEqual([403, 'FORBIDDEN']);
  expect(body.error.suggestion).toContain('/v1/emails/wait');
});

test('a connection that waits may be silent for as long, and no other one is', async () => {
  const silences: number[] = [];
  const ask = (path: string) =>
    embedded.service.app.fetch(
      new Request(`${embedded.url}${path}`, {
        headers: { authorization: `Bearer ${keyOf(embedded, 'test')}` },
      }),
      { requestIP: () => null, timeout: (_, seconds) => void silences.push(seconds) },
    );
  await ask('/v1/emails');
  await ask('/v1/emails/wait?to=nobody@people.example&timeout=0');
  expect(silences).toEqual([60 + IDLE_SECONDS]);
  // nginx and AWS's load balancers use a connection again for 60 s.
  expect(IDLE_SECONDS).toBeGreaterThan(60);
});

test('the newest is answered, or the first behind an email and of a moment', async () => {
  const to = 'several@people.example';
  const one = await send(first, 'test', to);
  const two = await send(first, 'test', to, { cc: 'other@people.example' });
  const three = await send(first, 'test', to);
  expect(await withoutWaiting(`to=${to}`)).toBe(three);
  expect(await withoutWaiting(`to=${to}&after=${one}`)).toBe(two);
  expect(await withoutWaiting(`to=other@people.example`)).toBe(two);
  expect(await withoutWaiting(`to=${to}&after=${three}`)).toBeUndefined();
  const { body } = await first.ask({ path: `/v1/emails/${two}`, key: keyOf(first, 'test') });
  const since = encodeURIComponent(body.data.createdAt);
  expect([one, two]).toContain(await withoutWaiting(`to=${to}&since=${since}`));
  expect(await withoutWaiting(`to=${to}&since=2999-01-01T00:00:00Z`)).toBeUndefined();
});

test('what cannot be waited for is 422 with its place; 60 seconds are the most', async () => {
  const wrong = async (query: string) =>
    (await wait(first, 'test', query)).body.error.details.map(({ path }: { path: string }) => path);
  expect(await wrong('timeout=0')).toEqual(['/query/to']);
  expect(await wrong('to=nobody&timeout=0')).toEqual(['/query/to']);
  expect(await wrong('to=a@b.example&timeout=61')).toEqual(['/query/timeout']);
  expect(await wrong('to=a@b.example&subject=')).toEqual(['/query/subject']);
  expect(await wrong('to=a@b.example&after=cap_x')).toEqual(['/query/after']);
  expect(await wrong('to=a@b.example&since=yesterday')).toEqual(['/query/since']);
});

test('a caller who hangs up frees the place', async () => {
  const key = await embedded.keyWith('test', ['emails:read']);
  const ask = (timeout: number, signal: AbortSignal | null = null, by = key) =>
    fetch(`${embedded.url}/v1/emails/wait?to=nobody@people.example&timeout=${timeout}`, {
      headers: { authorization: `Bearer ${by}` },
      signal,
    }).then(
      ({ status }) => status,
      () => 'gone',
    );
  const [hanging, over] = [new AbortController(), new AbortController()];
  // Begun before the others, it tells when their time is over, at which any place is free.
  const longest = ask(25, over.signal, keyOf(embedded, 'test'));
  const gone = Array.from({ length: 20 }, () => ask(25, hanging.signal));
  await eventually('a full room', async () => ((await ask(0)) === 429 ? true : undefined));
  hanging.abort();
  expect(new Set(await Promise.all(gone))).toEqual(new Set(['gone']));
  const free = eventually('a free place', async () => ((await ask(0)) === 404 ? 'free' : undefined));
  expect(await Promise.race([longest, free])).toBe('free');
  over.abort();
});

test('twenty requests of a key wait at once; a service that stops lets all of them go', async () => {
  const key = await embedded.keyWith('test', ['emails:read']);
  const ask = (timeout: number) =>
    embedded.ask({ path: `/v1/emails/wait?to=nobody@people.example&timeout=${timeout}`, key });
  const waiting = Array.from({ length: 20 }, () => ask(25));
  const refused = await eventually('a full room', async () => {
    const told = await ask(0);
    return told.status === 404 ? undefined : told;
  });
  expect([refused.status, refused.body.error.code]).toEqual([429, 'RATE_LIMITED']);
  expect((await wait(embedded, 'test', 'to=nobody@people.example&timeout=0')).status).toBe(404);
  embedded.service.endWaits();
  const told = await Promise.all(waiting);
  expect(new Set(told.map(({ status }) => status))).toEqual(new Set([503]));
});

test('a key that is revoked, or may not read any more, gets nothing that comes afterwards', async () => {
  const live = keyOf(first, 'live');
  for (const [status, code, change] of [
    [401, 'UNAUTHORIZED', (path: string) => first.ask({ method: 'DELETE', path, key: live })],
    [
      403,
      'FORBIDDEN',
      (path: string) =>
        first.ask({ method: 'PATCH', path, key: live, body: { permissions: ['contacts:read'] } }),
    ],
  ] as const) {
    const body = { name: 'Reader', env: 'live', permissions: ['emails:read'] };
    const made = await first.ask({ method: 'POST', path: '/v1/api-keys', key: live, body });
    const { id, key } = made.body.data;
    const to = `${code.toLowerCase()}@people.example`;
    const waiting = first.ask({ path: `/v1/captured/wait?to=${to}&timeout=25`, key });
    // One that may read is answered by the same mail, and by then the other waits as well.
    const allowed = wait(first, 'live', `to=${to}&timeout=25`);
    expect((await change(`/v1/api-keys/${id}`)).status).toBe(200);
    await send(first, 'live', to);
    expect((await allowed).status).toBe(200);
    const told = await waiting;
    expect([told.status, told.body.error.code, told.text.includes('481')]).toEqual([status, code, false]);
  }
});
