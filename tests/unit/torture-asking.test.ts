import { afterAll, expect, test } from 'bun:test';
import { ask, toldBy } from '../../src/chaos/ask.ts';
import { freePort } from '../../src/chaos/free-port.ts';
import { OutsideRecord } from '../../src/chaos/outside-record.ts';
import { randomFrom } from '../../src/chaos/random.ts';
import { Requests } from '../../src/chaos/requests.ts';

// What the torture's client takes an answer for. An answer that is taken for too much hides a fault from the judge.

const record = new OutsideRecord();
const keys = { test: 'test', live: 'live' };
const wishing = new Requests({ chance: randomFrom(3), record, keys, liveFrom: null });
const single = wishing.single(null);
const three = {
  ...wishing.batch(),
  wishes: Array.from({ length: 3 }, () => wishing.single(null).wishes).flat(),
};

let next: () => Response = () => new Response();
const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => next() });
afterAll(() => server.stop(true));

const answered = (status: number, body: unknown, headers: Record<string, string> = {}) => {
  next = () => Response.json(body, { status, headers });
  return ask({ method: 'POST', url: server.url.href, apiKey: 'k', body: {}, idempotencyKey: 'once' });
};

test('the torture client takes a 202 for an acknowledgement, and knows a replayed one', async () => {
  const receipt = await answered(202, { data: { id: 'em_1' } }, { 'idempotency-replayed': 'true' });
  expect(toldBy(receipt, single)).toEqual([{ what: 'accepted', id: 'em_1' }]);
  expect(receipt.replayed).toBeTrue();
  expect((await answered(202, { data: { id: 'em_1' } })).replayed).toBeFalse();
});

test('the torture client reads the answer of each email of a batch', async () => {
  const failed = (code: string) => ({ index: 2, error: { code } });
  const told = async (...items: object[]) => toldBy(await answered(202, { data: items }), three);
  expect(await told(failed('VALIDATION_ERROR'), { index: 0, id: 'em_0' })).toEqual([
    { what: 'accepted', id: 'em_0' },
    { what: 'left out' },
    { what: 'refused' },
  ]);
  expect((await told(failed('SERVICE_UNAVAILABLE')))[2]).toEqual({ what: 'unknown' });
  expect((await told(failed('IDEMPOTENCY_IN_PROGRESS')))[2]).toEqual({ what: 'untouched' });
});

test.each([
  [422, 'VALIDATION_ERROR', 'refused'],
  [409, 'IDEMPOTENCY_IN_PROGRESS', 'untouched'],
  [409, 'IDEMPOTENCY_CONFLICT', 'conflict'],
  [500, 'INTERNAL_ERROR', 'unknown'],
  [503, 'SERVICE_UNAVAILABLE', 'unknown'],
] as const)('%i %s is taken for %s, of every email of the request', async (status, code, what) => {
  const refusal = await answered(status, { error: { code } });
  expect(toldBy(refusal, three)).toEqual([{ what }, { what }, { what }]);
});

test('the torture client rules out an email only when nobody took the connection', async () => {
  const asked = { method: 'POST', apiKey: 'k', body: {} } as const;
  const refused = await ask({ ...asked, url: `http://127.0.0.1:${await freePort()}` });
  expect(toldBy(refused, single)).toEqual([{ what: 'untouched' }]);
  let requests = 0;
  using breaking = Bun.listen({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      data: (socket) => {
        requests++;
        socket.terminate();
      },
    },
  });
  const broken = await ask({ ...asked, url: `http://127.0.0.1:${breaking.port}` });
  expect(toldBy(broken, single)).toEqual([{ what: 'unknown' }]);
  expect(requests).toBe(1);
});

test('the torture client records an id answered to two requests, not a replay', () => {
  const heard = new OutsideRecord();
  const asked = { livemode: false, fates: ['opened'], inBatch: false, notBefore: null } as const;
  const [first, second] = [heard.wish(asked), heard.wish(asked)];
  heard.hear(first, { what: 'accepted', id: 'em_1' });
  heard.hear(first, { what: 'accepted', id: 'em_1' });
  expect([heard.shared, heard.contradictions]).toEqual([[], []]);
  heard.hear(second, { what: 'accepted', id: 'em_1' });
  expect(heard.shared).toEqual(['em_1 was answered to the wishes 0 and 1']);
  heard.hear(first, { what: 'accepted', id: 'em_2' });
  expect(heard.contradictions).toEqual(['em_1 and em_2']);
});
