import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { pageOf } from '../../src/http/pagination.ts';
import { pathsOf } from './ask.ts';
import { type RealService, ROUTES, startRealService } from './real-service.ts';

const WEBHOOK = `wh_${'0'.repeat(24)}`;
const CONTACT = `con_${'0'.repeat(24)}`;
const CAMPAIGN = `cmp_${'0'.repeat(24)}`;
const FLOW = `flw_${'0'.repeat(24)}`;
const idIn = (path: string): string =>
  path.startsWith('/v1/campaigns/') ? CAMPAIGN : path.startsWith('/v1/flows/') ? FLOW : WEBHOOK;

/** The list that each path's cursors are bound to. */
const LISTS: Readonly<Record<string, string>> = {
  '/v1/emails': 'emails',
  '/v1/events': 'events',
  '/v1/domains': 'domains',
  '/v1/captured': 'captured',
  '/v1/suppressions': 'suppressions',
  '/v1/templates': 'templates',
  '/v1/templates/:id/versions': `templates/${WEBHOOK}/versions`,
  '/v1/contacts': 'contacts',
  '/v1/contacts/:contact/activity': `contacts/${CONTACT}/activity`,
  '/v1/contacts/imports': 'contacts/imports',
  '/v1/audiences': 'audiences',
  '/v1/audit-log': 'audit-log',
  '/v1/campaigns': 'campaigns',
  '/v1/campaigns/:id/recipients': `campaigns/${CAMPAIGN}/recipients`,
  '/v1/flows': 'flows',
  '/v1/flows/:id/runs': `flows/${FLOW}/runs`,
  '/v1/flows/:id/versions': `flows/${FLOW}/versions`,
  '/v1/webhooks/:id/deliveries': `webhooks/${WEBHOOK}/deliveries`,
};

/** Lists whose cursors are those of another one, which they filter. */
const FILTERED = new Set(['/v1/audiences/:id/contacts']);

/** A cursor as the list itself would make it, were that the position of its last row. */
const forged = (list: string, position: string): string =>
  pageOf(
    {
      list,
      caller: { workspaceId: service.workspaceId, livemode: true },
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

beforeAll(async () => {
  service = await startRealService();
  key = await service.keyWith('live', ['*']);
});
afterAll(() => service[Symbol.asyncDispose]());

test('forged cursors are tried on every paged list', () => {
  const paged = ROUTES.filter(
    ({ path, query }) =>
      query && 'after' in query.properties && 'limit' in query.properties && !FILTERED.has(path),
  );
  expect(paged.map(({ path }) => path).toSorted()).toEqual(Object.keys(LISTS).toSorted());
});

describe('a signed cursor with an impossible position', () => {
  for (const [path, list] of Object.entries(LISTS))
    test(`of ${path} is 422 at /query/after`, async () => {
      for (const position of POSITIONS) {
        const after = forged(list, position);
        const reply = await service.ask({
          path: `${path.replace(':id', idIn(path)).replace(':contact', CONTACT)}?after=${after}`,
          key,
        });
        expect([position, reply.status, reply.body?.error?.code, pathsOf(reply)]).toEqual([
          position,
          422,
          'VALIDATION_ERROR',
          ['/query/after'],
        ]);
      }
    });
});

test('a signed cursor with another possible position starts there, in the same list', async () => {
  for (const [list, position] of [
    ['events', '0 '],
    ['events', `1 evt_${'0'.repeat(24)}`],
    ['emails', `em_${'z'.repeat(24)}`],
    ['suppressions', '1000-01-01T00:00:00.000000Z a b@example.com'],
  ] as const) {
    const reply = await service.ask({ path: `/v1/${list}?after=${forged(list, position)}`, key });
    expect([list, reply.status, reply.body?.data]).toEqual([list, 200, []]);
  }
});

test('a signed cursor beyond the end of the event log is 422 and says what to do', async () => {
  for (const position of [2n ** 44n, 2n ** 63n - 1n]) {
    const reply = await service.ask({ path: `/v1/events?after=${forged('events', `${position} `)}`, key });
    expect([reply.status, pathsOf(reply)]).toEqual([422, ['/query/after']]);
    expect(reply.body.error.details[0].message).toContain('Read the log from its beginning');
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
