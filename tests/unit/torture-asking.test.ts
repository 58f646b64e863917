import { afterAll, expect, test } from 'bun:test';
import { freePort } from '../../src/ops/torture/free-port.ts';
import { OutsideRecord } from '../../src/ops/torture/judge/outside-record.ts';
import { acceptancesIn, ask } from '../../src/ops/torture/load/ask.ts';
import { Requests } from '../../src/ops/torture/load/requests.ts';
import { randomFrom } from '../../src/ops/torture/random.ts';

// The chaos client must not read more into an answer than it says, which would hide a fault from the judge.

const record = new OutsideRecord();
const keys = { test: 'test', live: 'live' };
const requests = new Requests({ chance: randomFrom(3), record, keys, liveFrom: null });
const single = requests.single(null);
const three = {
  ...requests.batch(),
  emails: Array.from({ length: 3 }, () => requests.single(null).emails).flat(),
};

let next: () => Response = () => new Response();
const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => next() });
afterAll(() => server.stop(true));

const answered = (status: number, body: unknown, headers: Record<string, string> = {}) => {
  next = () => Response.json(body, { status, headers });
  return ask({ method: 'POST', url: server.url.href, apiKey: 'k', body: {}, idempotencyKey: 'once' });
};

test('the chaos client takes a 202 for an acknowledgement, and knows a replayed one', async () => {
  const receipt = await answered(202, { data: { id: 'em_1' } }, { 'idempotency-replayed': 'true' });
  expect(acceptancesIn(receipt, single)).toEqual([{ what: 'accepted', id: 'em_1' }]);
  expect(receipt.replayed).toBeTrue();
  expect((await answered(202, { data: { id: 'em_1' } })).replayed).toBeFalse();
});

test('the chaos client reads the answer of each email of a batch', async () => {
  const failed = (code: string) => ({ index: 2, error: { code } });
  const acceptances = async (...items: object[]) =>
    acceptancesIn(await answered(202, { data: items }), three);
  expect(await acceptances(failed('VALIDATION_ERROR'), { index: 0, id: 'em_0' })).toEqual([
    { what: 'accepted', id: 'em_0' },
    { what: 'left out' },
    { what: 'refused' },
  ]);
  expect((await acceptances(failed('SERVICE_UNAVAILABLE')))[2]).toEqual({ what: 'unknown' });
  expect((await acceptances(failed('IDEMPOTENCY_IN_PROGRESS')))[2]).toEqual({ what: 'untouched' });
});

test.each([
  [422, 'VALIDATION_ERROR', 'refused'],
  [409, 'IDEMPOTENCY_IN_PROGRESS', 'untouched'],
  [409, 'IDEMPOTENCY_CONFLICT', 'conflict'],
  [500, 'INTERNAL_ERROR', 'unknown'],
  [503, 'SERVICE_UNAVAILABLE', 'unknown'],
] as const)('%i %s is taken for %s, of every email of the request', async (status, code, what) => {
  const refusal = await answered(status, { error: { code } });
  expect(acceptancesIn(refusal, three)).toEqual([{ what }, { what }, { what }]);
});

test('the chaos client rules out an email only when the connection was refused', async () => {
  const asked = { method: 'POST', apiKey: 'k', body: {} } as const;
  const refused = await ask({ ...asked, url: `http://127.0.0.1:${await freePort()}` });
  expect(acceptancesIn(refused, single)).toEqual([{ what: 'untouched' }]);
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
  expect(acceptancesIn(broken, single)).toEqual([{ what: 'unknown' }]);
  expect(requests).toBe(1);
});

test('the chaos client records an id answered to two requests, not a replay', () => {
  const seen = new OutsideRecord();
  const asked = { livemode: false, outcomes: ['opened'], inBatch: false, notBefore: null } as const;
  const [first, second] = [seen.ask(asked), seen.ask(asked)];
  seen.note(first, { what: 'accepted', id: 'em_1' });
  seen.note(first, { what: 'accepted', id: 'em_1' });
  expect([seen.shared, seen.contradictions]).toEqual([[], []]);
  seen.note(second, { what: 'accepted', id: 'em_1' });
  expect(seen.shared).toEqual(['em_1 was answered to the emails 0 and 1']);
  seen.note(first, { what: 'accepted', id: 'em_2' });
  expect(seen.contradictions).toEqual(['em_1 and em_2']);
});
