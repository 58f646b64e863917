import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { MOST_COUNTED } from '../../src/http/lists/count.ts';
import { mintId } from '../../src/platform/db/ids.ts';
import { eventually, momentOf } from '../support/eventually.ts';
import { type RealService, startRealService } from './real-service.ts';

// Lists in the order that is asked for, page by page, and the number of their items.

let service: RealService;
let key: string;
let live: string;
beforeAll(async () => {
  service = await startRealService();
  key = await service.keyWith('test', ['*']);
  live = await service.keyWith('live', ['*']);
});
afterAll(() => service?.[Symbol.asyncDispose]());

type Item = Readonly<Record<string, string>>;
const read = async (path: string, by = key) => {
  const { status, body } = await service.ask({ path, key: by });
  expect([path, status]).toEqual([path, 200]);
  return body;
};

/** All items of a list, two a page. */
async function all(path: string, by = key): Promise<readonly Item[]> {
  const items: Item[] = [];
  for (let after = ''; ; ) {
    const { data, pagination } = await read(`${path}${path.includes('?') ? '&' : '?'}limit=2${after}`, by);
    items.push(...data);
    if (!pagination.hasMore) return items;
    after = `&after=${pagination.nextCursor}`;
  }
}

const post = async (path: string, body: object, by = key): Promise<Item> => {
  const made = await service.ask({ method: 'POST', path, key: by, body });
  expect([path, made.status < 300]).toEqual([path, true]);
  return made.body.data;
};

const NAMES = ['dora', 'ada', 'carl', 'bob', 'emma'];

/** Lists with what makes five items of each; all are sorted by creation time. */
const LISTS: readonly (readonly [string, (name: string) => Promise<unknown>])[] = [
  [
    '/v1/emails',
    (name) =>
      post('/v1/emails', {
        from: 'a@b.example',
        to: 'delivered@simulator.svc.test',
        subject: name,
        text: 'Hi',
        tags: [{ name: 'who', value: name }],
      }),
  ],
  ['/v1/contacts', (name) => post('/v1/contacts', { email: `${name}@people.example` })],
  ['/v1/audiences', (name) => post('/v1/audiences', { name })],
  ['/v1/templates', (name) => post('/v1/templates', { name, subject: name, text: 'Hi' })],
  ['/v1/flows', (name) => post('/v1/flows', { name })],
];

describe.each(LISTS)('%s', (path, make) => {
  test('oldest first is newest first reversed, and a cursor belongs to its order', async () => {
    for (const name of NAMES) {
      await make(name);
      // Dates tell items of one millisecond from no other.
      await momentOf(Date.now() + 1);
    }
    const newest = await all(path);
    expect(newest).toHaveLength(NAMES.length);
    const ids = newest.map(({ id }) => id);
    expect(ids).toEqual([...ids].sort().reverse());
    expect((await all(`${path}?sort=-createdAt`)).map(({ id }) => id)).toEqual(ids);
    expect((await all(`${path}?sort=createdAt`)).map(({ id }) => id)).toEqual([...ids].reverse());
    const { nextCursor } = (await read(`${path}?limit=2&sort=createdAt`)).pagination;
    for (const sort of ['', '&sort=-createdAt'])
      expect((await service.ask({ path: `${path}?limit=2${sort}&after=${nextCursor}`, key })).status).toBe(
        422,
      );
    expect((await service.ask({ path: `${path}?sort=name`, key })).status).toBe(422);
  });
});

test('filters keep the order, and so do dates', async () => {
  const bySubject = (await all('/v1/emails?sort=createdAt&subject=a')).map(({ subject }) => subject);
  expect(bySubject).toEqual(['dora', 'ada', 'carl', 'emma']);
  const [, second] = await all('/v1/emails?sort=createdAt');
  const since = await all(`/v1/emails?sort=createdAt&createdAfter=${second?.createdAt}`);
  expect(since.map(({ id }) => id)).toContain(second?.id);
  const until = await all(`/v1/emails?sort=createdAt&createdBefore=${second?.createdAt}`);
  expect(until.map(({ id }) => id)).not.toContain(second?.id);
  expect(since.length + until.length).toBe(NAMES.length);
});

test('scheduled and cancelled emails are found by their state, oldest first', async () => {
  const at = new Date(Date.now() + 3_600_000).toISOString();
  const scheduled: string[] = [];
  for (const name of NAMES) {
    const body = { from: 'a@b.example', to: 'delivered@simulator.svc.test', subject: name, text: 'Hi' };
    scheduled.push((await post('/v1/emails', { ...body, scheduledAt: at })).id ?? '');
  }
  for (const extra of ['', '&from=a@b.example']) {
    const found = await all(`/v1/emails?status=scheduled&sort=createdAt${extra}`);
    expect(found.map(({ id }) => id)).toEqual(scheduled);
  }
  for (const id of scheduled)
    expect((await service.ask({ method: 'DELETE', path: `/v1/emails/${id}`, key })).status).toBeLessThan(300);
  const cancelled = await all('/v1/emails?status=cancelled&sort=createdAt');
  expect(cancelled.map(({ id }) => id)).toEqual(scheduled);
  // Test mail is delivered in the background.
  await eventually('the delivery of the others', async () => {
    const { count } = (await read('/v1/emails/count?status=delivered')).data;
    return count === NAMES.length || undefined;
  });
  for (const [filter, count] of [
    ['', 10],
    ['?status=cancelled', 5],
    ['?status=cancelled&subject=ada', 1],
    ['?status=scheduled', 0],
    ['?status=delivered', 5],
    ['?status=delivered&tag=who:bob', 1],
    ['?subject=a', 8],
  ] as const)
    expect([filter, (await read(`/v1/emails/count${filter}`)).data]).toEqual([
      filter,
      { count, isExact: true },
    ]);
});

test('contacts are sorted by address, with every filter, and counted', async () => {
  const { id } = await post('/v1/audiences', { name: 'Some' });
  for (const name of ['ada', 'emma'])
    await post(`/v1/audiences/${id}/contacts`, { emails: [`${name}@people.example`] });
  await post('/v1/contacts', { email: 'Zed@people.example', lastName: 'Carlson', status: 'unsubscribed' });
  const sorted = [...NAMES, 'Zed']
    .map((name) => `${name}@people.example`)
    .sort((a, b) => (a.toLowerCase() < b.toLowerCase() ? -1 : 1));
  const emails = async (query: string) => (await all(`/v1/contacts?${query}`)).map(({ email }) => email);
  expect(await emails('sort=email')).toEqual(sorted);
  expect(await emails('sort=-email')).toEqual([...sorted].reverse());
  expect(await emails('sort=-email&status=subscribed')).toEqual(sorted.slice(0, 5).reverse());
  expect(await emails(`sort=email&audienceId=${id}`)).toEqual(['ada@people.example', 'emma@people.example']);
  expect(await emails('sort=-email&search=car')).toEqual(['Zed@people.example', 'carl@people.example']);
  const [, second] = await all('/v1/contacts?sort=createdAt');
  const from = (name: string) => emails(`${name}&createdAfter=${second?.createdAt}`);
  const newest = await from('sort=createdAt');
  expect([newest.length < sorted.length, newest[0]]).toEqual([true, second?.email]);
  expect(await from('sort=email')).toEqual(sorted.filter((email) => newest.includes(email)));
  const oldest = await emails(`sort=-email&createdBefore=${second?.createdAt}`);
  expect([...oldest, ...newest].sort()).toEqual([...sorted].sort());
  const file = await fetch(`${service.url}/v1/contacts/export?sort=-email`, {
    headers: { authorization: `Bearer ${key}` },
  });
  const rows = (await file.text()).trim().split('\r\n').slice(1);
  expect(rows.map((row) => row.split(',')[1])).toEqual([...sorted].reverse());
  for (const [filter, count] of [
    ['', 6],
    ['?status=subscribed', 5],
    ['?status=unsubscribed', 1],
    [`?audienceId=${id}`, 2],
    [`?audienceId=${id}&status=unsubscribed`, 0],
    ['?search=car', 2],
    ['?search=car&status=subscribed', 1],
    ['?email=ADA@people.example', 1],
  ] as const)
    expect([filter, (await read(`/v1/contacts/count${filter}`)).data]).toEqual([
      filter,
      { count, isExact: true },
    ]);
});

test('suppressions are sorted by time and by address, and counted', async () => {
  for (const name of NAMES) await post('/v1/suppressions', { address: `${name}@out.example` }, live);
  const byTime = NAMES.map((name) => `${name}@out.example`);
  const addresses = async (query: string) =>
    (await all(`/v1/suppressions?${query}`, live)).map(({ address }) => address);
  expect(await addresses('sort=createdAt')).toEqual(byTime);
  expect(await addresses('sort=-createdAt')).toEqual([...byTime].reverse());
  expect(await addresses('sort=address&reason=manual')).toEqual([...byTime].sort());
  expect(await addresses('sort=-address')).toEqual([...byTime].sort().reverse());
  const counted = async (query: string, by = live) =>
    (await read(`/v1/suppressions/count${query}`, by)).data.count;
  expect(await counted('')).toBe(5);
  expect(await counted('?reason=bounced')).toBe(0);
  expect(await counted('?address=Ada@out.example')).toBe(1);
  expect(await counted('', key)).toBe(0);
});

/** The context of a delivery that was never posted. */
const UNTRIED = JSON.stringify({ attempt: 0, retryCount: 0, attemptedAt: null, stoppedBy: null });

test('runs, imports and deliveries are sorted by their creation, page by page', async () => {
  const { database } = service.service;
  const flow = await post('/v1/flows', { name: 'Runs', trigger: { type: 'manual' } });
  const webhook = await post('/v1/webhooks', { url: 'https://hooks.example/in', events: ['delivered'] });
  for (const name of NAMES) {
    const headers = { 'content-type': 'text/csv' };
    const file = { key, body: `email\n${name}@file.example\n`, headers };
    const { status } = await service.ask({ method: 'POST', path: '/v1/contacts/import', ...file });
    expect(status).toBe(202);
    await database.query(
      `insert into flow_runs (id, workspace_id, livemode, state, context, revision, machine_version, status, ended_at, started_at,
        flow_id, flow_version, contact_id, occurrence_key, is_watched)
       select $1, workspace_id, livemode, 'completed', '{}', 1, 1, 'completed', now(), now(), id, 1, $3, $3, false
       from flows where id = $2`,
      [mintId('run', Date.now()), flow.id ?? '', name],
    );
    await database.query(
      `insert into webhook_deliveries (id, workspace_id, livemode, state, context, revision, machine_version, webhook_id, event_id,
        event_type, email_id) values ($1, $2, false, 'failed', $5, 1, 1, $3, $4, 'delivered', 'em_1')`,
      [mintId('dlv', Date.now()), service.workspaceId, webhook.id ?? '', `evt_${name}`, UNTRIED],
    );
  }
  for (const path of [
    `/v1/flows/${flow.id}/runs`,
    `/v1/flows/${flow.id}/runs?status=completed`,
    '/v1/contacts/imports',
    `/v1/webhooks/${webhook.id}/deliveries`,
    `/v1/webhooks/${webhook.id}/deliveries?status=failed`,
  ]) {
    const newest = (await all(path)).map(({ id }) => id);
    expect([path, newest.length, newest]).toEqual([path, NAMES.length, newest.toSorted().reverse()]);
    const more = path.includes('?') ? '&' : '?';
    expect([path, (await all(`${path}${more}sort=createdAt`)).map(({ id }) => id)]).toEqual([
      path,
      newest.toReversed(),
    ]);
    expect((await service.ask({ path: `${path}${more}sort=status`, key })).status).toBe(422);
  }
});

test('the other logs are sorted and counted with their filters', async () => {
  const audience = await post('/v1/audiences', { name: 'Readers' }, live);
  const campaign = { audienceId: audience.id, subject: 'Hi', html: '<p>Hi</p>' };
  const domain = await post('/v1/domains', { name: 'people.example' }, live);
  const { database } = service.service;
  await database.query("update domains set state = 'verified' where id = $1", [domain.id ?? '']);
  const route = { domainId: domain.id, match: { type: 'catchAll' }, action: { type: 'keep' } };
  await post('/v1/inbound-routes', route);
  await database.query("update workspaces set plan = 'unlimited' where id = $1", [service.workspaceId]);
  for (const name of ['z.example', 'a.example']) await post('/v1/domains', { name }, live);
  for (const name of NAMES) {
    await post('/v1/campaigns', { ...campaign, name }, live);
    const mail = { from: 'a@b.example', to: `${name}@people.example`, subject: name, text: 'Hi' };
    await post('/v1/received/test', mail);
    await database.query(`insert into captured values ($1, $2, 'em_' || $3, 'a@b.example', '', '')`, [
      mintId('cap', Date.now()),
      service.workspaceId,
      name,
    ]);
  }
  // Requests are written to their log within a second.
  await eventually('a log of requests', async () => {
    const { count } = (await read('/v1/requests/count', live)).data;
    return count > 5 || undefined;
  });
  for (const [path, by, count] of [
    ['/v1/captured', live, 5],
    ['/v1/received', key, 5],
    ['/v1/campaigns', live, 5],
    ['/v1/domains', live, 3],
    ['/v1/requests', live, null],
  ] as const) {
    const oldest = (await all(`${path}?sort=createdAt`, by)).map(({ id }) => id ?? '');
    expect([path, oldest]).toEqual([path, [...oldest].sort()]);
    expect(oldest.length).toBeGreaterThanOrEqual(count ?? 6);
    const newest = (await all(path, by)).map(({ id }) => id ?? '');
    // Each reading of the log is a request itself.
    const known = newest.filter((id) => oldest.includes(id));
    expect([path, known]).toEqual([path, [...oldest].reverse()]);
    if (count !== null) expect([path, oldest.length]).toEqual([path, count]);
  }
  const entries = await all('/v1/audit-log?sort=createdAt', live);
  expect(entries.length).toBeGreaterThan(4);
  expect(entries.map(({ id }) => id)).toEqual(entries.map(({ id }) => id).sort());
  const ofSuppressions = entries.filter(({ action }) => action === 'suppression.created').length;
  const { data } = await read('/v1/audit-log/count?action=suppression.created', live);
  expect(data).toEqual({ count: ofSuppressions, isExact: true });
  for (const [path, by] of [
    ['/v1/captured', live],
    ['/v1/received', key],
  ] as const)
    expect([path, (await read(`${path}/count`, by)).data]).toEqual([path, { count: 5, isExact: true }]);
  const requests = (await read('/v1/requests/count', live)).data;
  expect([requests.count > 5, requests.isExact]).toEqual([true, true]);
});

test('a count is exact up to its limit, and says so beyond', async () => {
  const other = await service.keyWith('live', ['*']);
  const fill = (from: number, to: number) =>
    service.service.database.query(
      `insert into contacts (workspace_id, livemode, id, email, email_key, properties, status, created_at, updated_at)
       select $1, true, 'con_01m7' || lpad(n::text, 20, '0'), n || '@many.example', n || '@many.example', '{}',
         case when n % 2 = 0 then 'subscribed' else 'bounced' end, now(), now() from generate_series($2::integer, $3::integer) n`,
      [service.workspaceId, from, to],
    );
  const counted = async (query = '') => (await read(`/v1/contacts/count${query}`, other)).data;
  await fill(1, MOST_COUNTED);
  expect(await counted()).toEqual({ count: MOST_COUNTED, isExact: true });
  expect(await counted('?status=subscribed')).toEqual({ count: MOST_COUNTED / 2, isExact: true });
  await fill(MOST_COUNTED + 1, MOST_COUNTED + 1);
  expect(await counted()).toEqual({ count: MOST_COUNTED, isExact: false });
  expect(await counted('?status=subscribed')).toEqual({ count: MOST_COUNTED / 2, isExact: false });
  expect(await counted('?status=bounced')).toEqual({ count: MOST_COUNTED / 2 + 1, isExact: true });
  expect(await counted('?search=9')).toEqual({ count: 1_111, isExact: true });
});
