import { expect, test } from 'bun:test';
import fc from 'fast-check';
import type { Principal } from '../../../src/http/auth/principal.ts';
import { claimOf, fingerprintOf, InFlight, replayOf, saidBy } from '../../../src/http/request/idempotency.ts';
import { Failure } from '../../../src/platform/errors/failure.ts';

const asked = {
  method: 'POST',
  path: '/v1/emails',
  query: {},
  body: { to: 'a', tags: [{ name: 'x', value: 'y' }] },
};
const caller: Principal = {
  kind: 'key',
  id: 'key_1',
  workspaceId: 'ws_1',
  livemode: true,
  permissions: ['*'],
  plan: 'free',
  senderDefaults: { from: null, replyTo: null },
};

/** The same value with the members of every object in the opposite order. */
const reversed = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([name, inner]) => [name, reversed(inner)]),
  );
};

test('the fingerprint of a request ignores the order of members', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (json) => {
      const body = JSON.parse(JSON.stringify(json));
      expect(fingerprintOf({ ...asked, body: reversed(body) })).toBe(fingerprintOf({ ...asked, body }));
    }),
  );
});

test('the fingerprint of a request differs by body', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (a, b) => {
      const [one, other] = [JSON.parse(JSON.stringify(a)), JSON.parse(JSON.stringify(b))];
      const same = Bun.deepEquals(one, other, true);
      expect(fingerprintOf({ ...asked, body: one }) === fingerprintOf({ ...asked, body: other })).toBe(same);
    }),
  );
});

test('the fingerprint of a request differs by list order, path, method and query', () => {
  const base = fingerprintOf(asked);
  expect(fingerprintOf({ ...asked, path: '/v1/emails/batch' })).not.toBe(base);
  expect(fingerprintOf({ ...asked, method: 'PUT' })).not.toBe(base);
  expect(fingerprintOf({ ...asked, query: { upsert: true } })).not.toBe(base);
  expect(fingerprintOf({ ...asked, body: [1, 2] })).not.toBe(fingerprintOf({ ...asked, body: [2, 1] }));
  expect(fingerprintOf({ ...asked, body: new Uint8Array([1]) })).not.toBe(
    fingerprintOf({ ...asked, body: new Uint8Array([2]) }),
  );
  expect(base).toMatch(/^[0-9a-f]{64}$/);
});

test('the fingerprint of a request differs by what the headers of its endpoint say', () => {
  const base = fingerprintOf(asked);
  const by = (headers: Readonly<Record<string, string>>) =>
    fingerprintOf({
      ...asked,
      said: saidBy(new Headers(headers), ['x-svc-test-clock', 'x-svc-simulate']),
    });
  const clock = { 'x-svc-test-clock': 'a' };
  const script = { 'x-svc-simulate': 'b' };
  expect(by({ accept: 'text/html' })).toBe(base);
  expect(by({ ...clock, ...script })).toBe(by({ ...script, ...clock }));
  const all = [by(clock), by({ 'x-svc-test-clock': 'b' }), by(script), by({ ...clock, ...script }), base];
  expect(new Set(all).size).toBe(all.length);
  expect(saidBy(new Headers(script))).toEqual({});
});

test.each(['a', '!', '~', 'x'.repeat(255), crypto.randomUUID()])('%p is a valid Idempotency-Key', (key) => {
  expect(claimOf(new Headers({ 'idempotency-key': key }), () => asked)).toEqual({
    key,
    fingerprint: fingerprintOf(asked),
  });
});

test.each(['', 'x'.repeat(256), 'a b', 'é'])('%p is no valid Idempotency-Key', (key) => {
  expect(claimOf(new Headers({ 'idempotency-key': key }), () => asked)).toMatchObject({
    code: 'VALIDATION_ERROR',
    extra: { details: [{ path: '/headers/idempotency-key' }] },
  });
});

test('no header, no claim, and nothing is put together for one', () => {
  const unasked = () => {
    throw new Error('It was asked what the request is.');
  };
  expect(claimOf(new Headers(), unasked)).toBeNull();
});

test('a stored reply is replayed to the same request and a conflict to another', () => {
  const claim = { key: 'k', fingerprint: 'f' };
  expect(replayOf(claim, { fingerprint: 'f', status: 202 }, () => ({ id: 1 }))).toEqual({
    status: 202,
    body: { id: 1 },
  });
  const unreadable = () => JSON.parse('sealed');
  expect(replayOf(claim, { fingerprint: 'g', status: 202 }, unreadable)).toMatchObject({
    code: 'IDEMPOTENCY_CONFLICT',
  });
});

test('a key is busy until its work ends, however it ends, and only in its workspace and environment', async () => {
  const inFlight = new InFlight();
  const claim = { key: 'k', fingerprint: 'f' };
  const first = Promise.withResolvers<string>();
  const running = inFlight.run(caller, claim, () => first.promise);
  const again = () => inFlight.run(caller, claim, () => 'done');
  expect(again()).toMatchObject({ code: 'IDEMPOTENCY_IN_PROGRESS' });
  expect(await inFlight.run({ ...caller, livemode: false }, claim, () => 'done')).toBe('done');
  expect(await inFlight.run({ ...caller, workspaceId: 'ws_2' }, claim, () => 'done')).toBe('done');
  first.resolve('first');
  expect(await running).toBe('first');
  const second = Promise.withResolvers<string>();
  const failing = inFlight.run(caller, claim, () => second.promise);
  expect(again()).toBeInstanceOf(Failure);
  second.reject(new Error('lost'));
  expect(await Promise.allSettled([failing])).toMatchObject([{ status: 'rejected' }]);
  const broken = inFlight.run(caller, claim, () => {
    throw new Error('broken');
  });
  expect(await Promise.allSettled([broken])).toMatchObject([{ status: 'rejected' }]);
  expect(await again()).toBe('done');
});
