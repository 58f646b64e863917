import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { randomUUID } from 'node:crypto';
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts';
import { pathsOf, type Told } from './ask.ts';
import { type RealService, startRealService } from './real-service.ts';

// An accepted email is answered again, although its conditions have changed since: the time, a domain, a
// target.

const MINUTE = 60_000;
let ahead = 0;
const clock = { now: () => Date.now() + ahead, monotonic: () => performance.now() };
let database: TestDatabase;
let service: RealService;
let live: string;
let inTest: string;

beforeAll(async () => {
  database = await createTestDatabase();
  service = await startRealService({ DATABASE_URL: database.url }, { clock });
  live = await service.keyWith('live', ['*']);
  inTest = await service.keyWith('test', ['*']);
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await database.close();
});

const post = (path: string, body: unknown, idempotencyKey: string, key = inTest): Promise<Told> =>
  service.ask({ method: 'POST', path, key, body, headers: { 'idempotency-key': idempotencyKey } });
const email = (more: object = {}): object => ({
  from: 'shop@once.test',
  to: 'delivered@simulator.svc.test',
  subject: 'Hello',
  text: 'Hi',
  ...more,
});
const inMinutes = (minutes: number): string => new Date(clock.now() + minutes * MINUTE).toISOString();
const isReplayOf = (again: Told, first: Told): void => {
  expect([again.status, again.text]).toEqual([first.status, first.text]);
  expect(again.headers.get('idempotency-replayed')).toBe('true');
};

describe('a repeated POST /v1/emails after its scheduled time', () => {
  test('replays the first answer and sends once', async () => {
    const name = randomUUID();
    const body = email({ scheduledAt: inMinutes(5), subject: 'Once' });
    const first = await post('/v1/emails', body, name);
    expect(first.status).toBe(202);
    ahead += 30 * MINUTE;
    isReplayOf(await post('/v1/emails', body, name), first);
    const { data } = (await service.ask({ path: '/v1/emails?subject=Once', key: inTest })).body;
    expect(data).toHaveLength(1);
    const conflict = await post('/v1/emails', { ...body, subject: 'Twice' }, name);
    expect([conflict.status, conflict.body.error.code]).toEqual([409, 'IDEMPOTENCY_CONFLICT']);
    const again = await post('/v1/emails', body, randomUUID());
    expect([again.status, pathsOf(again)]).toEqual([422, ['/body/scheduledAt']]);
    // The other environment has separate keys.
    expect((await post('/v1/emails', body, name, live)).status).toBe(422);
  });

  test('replays the first answer of a batch', async () => {
    const name = randomUUID();
    const emails = [email({ to: 'nobody' }), email({ scheduledAt: inMinutes(5) }), email()];
    const first = await post('/v1/emails/batch', { emails }, name);
    ahead += 30 * MINUTE;
    const again = await post('/v1/emails/batch', { emails }, name);
    const ids = ({ body }: Told) => body.data.map(({ id }: { id?: string }) => id);
    expect(ids(again)).toEqual(ids(first));
    expect(again.headers.get('idempotency-replayed')).toBe('true');
  });

  test('leaves the key free when the first was refused', async () => {
    const name = randomUUID();
    expect((await post('/v1/emails', email({ scheduledAt: inMinutes(-2) }), name)).status).toBe(422);
    expect((await post('/v1/emails', email(), name)).status).toBe(202);
  });

  test('is a new email after 24 hours', async () => {
    const name = randomUUID();
    const body = email({ scheduledAt: inMinutes(5) });
    expect((await post('/v1/emails', body, name)).status).toBe(202);
    ahead += 24 * 60 * MINUTE + 1;
    expect((await post('/v1/emails', body, name)).status).toBe(422);
  });
});

test('a repeated POST /v1/emails is replayed although its domain was removed since', async () => {
  const domain = await post('/v1/domains', { name: 'once.test' }, randomUUID(), live);
  expect(domain.body.data.status).toBe('verified');
  const name = randomUUID();
  const first = await post('/v1/emails', email(), name, live);
  expect(first.status).toBe(202);
  const path = `/v1/domains/${domain.body.data.id}`;
  expect((await service.ask({ method: 'DELETE', path, key: live })).status).toBe(204);
  isReplayOf(await post('/v1/emails', email(), name, live), first);
  expect((await post('/v1/emails', email(), randomUUID(), live)).body.error.code).toBe('FORBIDDEN');
});

test('a repeated POST /v1/webhooks is replayed with its secret although its target was forbidden since', async () => {
  const name = randomUUID();
  const body = { url: 'http://127.0.0.1:9/hook', events: ['delivered'] };
  const first = await post('/v1/webhooks', body, name);
  expect(first.status).toBe(201);
  // Private targets are open only while the service listens on this machine alone.
  await using stricter = await startRealService({ DATABASE_URL: database.url, HOST: '0.0.0.0' }, { clock });
  const ask = (idempotencyKey: string, sent: object = body): Promise<Told> =>
    stricter.ask({
      method: 'POST',
      path: '/v1/webhooks',
      key: inTest,
      body: sent,
      headers: { 'idempotency-key': idempotencyKey },
    });
  isReplayOf(await ask(name), first);
  expect((await ask(name, { ...body, events: ['bounced'] })).body.error.code).toBe('IDEMPOTENCY_CONFLICT');
  expect(pathsOf(await ask(randomUUID()))).toEqual(['/body/url']);
});
