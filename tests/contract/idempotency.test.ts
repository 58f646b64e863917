import { describe, expect, test } from 'bun:test';
import { ask, pathsOf } from './ask.ts';
import { keyOf, startSmallService, THING } from './small-service.ts';

const key = keyOf('live', 'all');
const create = (idempotencyKey: string, body: unknown = { name: 'a', count: 1 }) => ({
  method: 'POST',
  path: '/v1/things',
  key,
  body,
  headers: { 'idempotency-key': idempotencyKey },
});

test('an Idempotency-Key replays the stored reply without acting again', async () => {
  using service = startSmallService();
  const first = await ask(service.url, create('k'));
  const second = await ask(service.url, create('k'));
  expect(second.status).toBe(first.status);
  expect(second.text).toBe(first.text);
  expect([first, second].map(({ headers }) => headers.get('idempotency-replayed'))).toEqual([null, 'true']);
  expect(service.done).toEqual(['create a']);
});

test('an Idempotency-Key ignores the order of members in the body', async () => {
  using service = startSmallService();
  await ask(service.url, create('k', '{"name":"a","count":1}'));
  const second = await ask(service.url, create('k', ' { "count": 1.0, "name": "\\u0061" } '));
  expect(second.headers.get('idempotency-replayed')).toBe('true');
});

test('an Idempotency-Key with another body is a conflict', async () => {
  using service = startSmallService();
  await ask(service.url, create('k'));
  const reply = await ask(service.url, create('k', { name: 'b' }));
  expect([reply.status, reply.body.error.code]).toEqual([409, 'IDEMPOTENCY_CONFLICT']);
  expect(service.done).toEqual(['create a']);
});

test('an Idempotency-Key is in progress while its first request runs, and free after a refusal', async () => {
  using service = startSmallService();
  const slow = { method: 'POST', path: '/v1/slow', key, headers: { 'idempotency-key': 'k' } };
  const first = ask(service.url, slow);
  // Its own connection has delivered it once the second is refused; until then the second would itself be the
  // first.
  const others = await Promise.all(
    Array.from({ length: 99 }, () => Promise.race([ask(service.url, slow), first])),
  );
  for (const reply of others)
    expect([reply.status, reply.body.error?.code]).toEqual([409, 'IDEMPOTENCY_IN_PROGRESS']);
  service.release();
  expect((await first).status).toBe(200);
  expect(service.done).toEqual(['slow']);
  service.release();
  expect((await ask(service.url, slow)).status).toBe(200);
  expect(service.done).toEqual(['slow', 'slow']);
});

describe('the Idempotency-Key header', () => {
  test.each(['', 'x'.repeat(256), 'a b', 'a\tb'])('%p is refused', async (value) => {
    using service = startSmallService();
    const reply = await ask(service.url, create(value));
    expect(reply.status).toBe(422);
    expect(pathsOf(reply)).toEqual(['/headers/idempotency-key']);
    expect(service.done).toEqual([]);
  });

  test('reports an invalid body first', async () => {
    using service = startSmallService();
    expect(pathsOf(await ask(service.url, create('a b', {})))).toEqual(['/body/name']);
  });

  test('is ignored on other methods', async () => {
    using service = startSmallService();
    const get = { path: `/v1/things/${THING}`, key, headers: { 'idempotency-key': 'a b' } };
    expect((await ask(service.url, get)).status).toBe(200);
    expect((await ask(service.url, { ...get, method: 'DELETE' })).status).toBe(204);
  });
});
