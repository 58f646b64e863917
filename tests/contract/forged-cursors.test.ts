import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { pageOf } from '../../src/http/lists/pagination.ts';
import { pathsOf } from './ask.ts';
import { type RealService, ROUTES, startRealService } from './real-service.ts';

/** Lists whose cursors are those of another one, which they filter. */
const FILTERED = new Set(['/v1/audiences/:id/contacts']);

/**
 * Every other paged list: its path with names that nothing has, which is also what its cursors are bound to,
 * and its example.
 */
const LISTS = ROUTES.filter(
  ({ path, query }) =>
    query && 'after' in query.properties && 'limit' in query.properties && !FILTERED.has(path),
).map(({ path, params = {}, example }) => ({
  path: path.replace(/:(\w+)/g, (_, name: string) => {
    const spec = params[name];
    return `${spec && 'prefix' in spec ? spec.prefix : 'con'}_${'0'.repeat(24)}`;
  }),
  example,
}));

/** A cursor as the list itself would make it, were that the position of its last row. */
const forged = (list: string, position: string): string =>
  pageOf(
    {
      list,
      caller: { workspaceId: service.workspaceId, livemode: list !== 'test-clocks' },
      isPosition: () => true,
      query: { limit: 1 },
    },
    [position, 'more'],
    (row) => row,
    (row) => row,
  ).pagination.nextCursor ?? '';

const POSITIONS = [
  'x',
  '0',
  '-1 ',
  `${2n ** 63n} `,
  `${'9'.repeat(20)} `,
  '1 em_000000000000000000000000',
  `em_${'0'.repeat(23)}u`,
  '1e5 ',
  'infinity x',
  'today ada@example.com',
  '2026-02-30T10:00:00.000000Z ada@example.com',
  '0000-01-01T00:00:00.000000Z ada@example.com',
  '+275760-09-13T00:00:00.000Z ada@example.com',
  '2026-11-20T10:00:00.000Z',
  "2026-11-20T10:00:00.000000Z' ada@example.com",
];

let service: RealService;
let key: string;
let testKey: string;

beforeAll(async () => {
  service = await startRealService();
  key = await service.keyWith('live', ['*']);
  testKey = await service.keyWith('test', ['*']);
});
afterAll(() => service[Symbol.asyncDispose]());

/** Test clocks are for test keys alone. */
const keyOf = (list: string): string => (list === 'test-clocks' ? testKey : key);

/**
 * Positions that some list has: an id of what it shows, the number of a version, a place in the event log, a
 * moment.
 */
const possible = (example: unknown): string[] => [
  ...[...JSON.stringify(example).matchAll(/"([a-z]{2,4})_\w{24}"/g)].map(
    ([, kind]) => `${kind}_${'z'.repeat(24)}`,
  ),
  '1',
  '0 ',
  '1000-01-01T00:00:00.000000Z a b@example.com',
];

describe.each(LISTS)('a signed cursor of $path', ({ path, example }) => {
  const list = path.slice('/v1/'.length);
  const askFrom = (position: string) =>
    service.ask({ path: `${path}?after=${forged(list, position)}`, key: keyOf(list) });

  test('is 422 at /query/after where its position is impossible', async () => {
    for (const position of POSITIONS) {
      const reply = await askFrom(position);
      expect([position, reply.status, reply.body?.error?.code, pathsOf(reply)]).toEqual([
        position,
        422,
        'VALIDATION_ERROR',
        ['/query/after'],
      ]);
    }
  });

  // Otherwise it would be refused for its list, and nothing would be known of positions.
  test('is taken where its position is possible', async () => {
    const taken: string[] = [];
    for (const position of possible(example))
      if ((await askFrom(position)).status !== 422) taken.push(position);
    expect(taken).not.toBeEmpty();
  });
});

test('a signed cursor with another possible position starts there, in the same list', async () => {
  for (const [list, position] of [
    ['events', '0 '],
    ['events', `1 evt_${'0'.repeat(24)}`],
    ['emails', `em_${'z'.repeat(24)}`],
    ['suppressions', '1000-01-01T00:00:00.000000Z a b@example.com'],
  ] as const) {
    const reply = await service.ask({
      path: `/v1/${list}?after=${forged(list, position)}`,
      key: keyOf(list),
    });
    expect([list, reply.status, reply.body?.data]).toEqual([list, 200, []]);
  }
});

test('a signed cursor beyond the end of the event log is 422 and says what to do', async () => {
  for (const position of [2n ** 44n, 2n ** 63n - 1n]) {
    const reply = await service.ask({ path: `/v1/events?after=${forged('events', `${position} `)}`, key });
    expect([reply.status, pathsOf(reply)]).toEqual([422, ['/query/after']]);
    expect(reply.body.error.details[0].message).toContain('Read the log from the beginning');
  }
});

test('one of a test key is 422 with a live key, and one of a live key with a test key', async () => {
  const testKey = await service.keyWith('test', ['*']);
  const mail = { from: 'a@acme.example', to: 'delivered@simulator.svc.test', subject: 'x', text: 'x' };
  for (let i = 0; i < 2; i++)
    expect((await service.ask({ method: 'POST', path: '/v1/emails', key: testKey, body: mail })).status).toBe(
      202,
    );
  const { body } = await service.ask({ path: '/v1/emails?limit=1', key: testKey });
  const after = body.pagination.nextCursor;
  expect((await service.ask({ path: `/v1/emails?limit=1&after=${after}`, key: testKey })).status).toBe(200);
  const refused = await service.ask({ path: `/v1/emails?limit=1&after=${after}`, key });
  expect([refused.status, pathsOf(refused)]).toEqual([422, ['/query/after']]);
  const log = await service.ask({ path: '/v1/events', key });
  const other = await service.ask({
    path: `/v1/events?after=${log.body.pagination.nextCursor}`,
    key: testKey,
  });
  expect([other.status, pathsOf(other)]).toEqual([422, ['/query/after']]);
});
