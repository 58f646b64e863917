import { afterAll, beforeAll, expect, test } from 'bun:test';
import { MOST_VIEWS } from '../../src/accounts/members/saved-views.ts';
import { type Browser, codeOf, inviteMember, setUpOwner } from './a-browser.ts';
import { type RealService, startRealService } from './real-service.ts';

// A member's filters under a name: private, in one workspace, gone with the member.

let service: RealService;
let owner: Browser;
let second: string;

beforeAll(async () => {
  service = await startRealService();
  owner = await setUpOwner(service);
  second = (await owner.ask('/workspaces', { name: 'Globex' })).body.data.id;
});
afterAll(() => service?.[Symbol.asyncDispose]());

const FAILED = { page: 'live/emails', name: 'Failed', search: 'status=failed' };
const viewsOf = async (browser: Browser, workspaceId = service.workspaceId) =>
  (await browser.ask('/views', undefined, 'GET', { 'x-svc-workspace': workspaceId })).body.data;
const save = (browser: Browser, view: object, workspaceId = service.workspaceId) =>
  browser.ask('/views', view, 'POST', { 'x-svc-workspace': workspaceId });

test('a view is saved, replaced under its name, and deleted', async () => {
  const first = await save(owner, FAILED);
  expect([first.status, first.body.data]).toEqual([201, { id: expect.stringMatching(/^view_/), ...FAILED }]);
  const again = await save(owner, { ...FAILED, search: 'status=failed&days=7' });
  expect(again.body.data).toEqual({ ...first.body.data, search: 'status=failed&days=7' });
  expect(await viewsOf(owner)).toEqual([again.body.data]);
  expect(await viewsOf(owner, second)).toEqual([]);
  expect((await owner.ask(`/views/${first.body.data.id}`, {}, 'DELETE')).status).toBe(204);
  expect(codeOf(await owner.ask(`/views/${first.body.data.id}`, {}, 'DELETE'))).toEqual([404, 'NOT_FOUND']);
  expect(await viewsOf(owner)).toEqual([]);
});

test('a view is of one person, and goes when the person leaves the workspace', async () => {
  const { id, browser } = await inviteMember(service, owner, 'viewer');
  const { data } = (await save(browser, FAILED)).body;
  expect(await viewsOf(owner)).toEqual([]);
  expect((await owner.ask(`/views/${data.id}`, {}, 'DELETE')).status).toBe(404);
  expect(await viewsOf(browser)).toEqual([data]);
  expect((await owner.ask(`/live/members/${id}`, {}, 'DELETE')).status).toBe(204);
  const left = await service.service.database.query('select id from saved_views where id = $1', [data.id]);
  expect(left).toEqual([]);
});

test('a view that names a person goes when the person is forgotten', async () => {
  const { id } = (await owner.ask('/live/contacts', { email: 'Bo+b@Example.net' })).body.data;
  const named = { ...FAILED, name: 'Bob', search: 'to=Bo%2bb@example.net&days=7' };
  expect((await save(owner, named)).status).toBe(201);
  expect((await save(owner, { ...FAILED, search: 'to=somebob@example.net' })).status).toBe(201);
  expect((await owner.ask(`/live/contacts/${id}`, {}, 'DELETE')).status).toBe(204);
  expect((await viewsOf(owner)).map(({ name }: { name: string }) => name)).toEqual(['Failed']);
});

test('what is no view is refused, and so is one beyond the limit, unless it replaces another', async () => {
  for (const part of [
    { page: 'live/Emails' },
    { page: 'live/emails/em_1' },
    { page: 'emails' },
    { page: '' },
    { name: '' },
    { name: ' ' },
    { name: 'n'.repeat(61) },
    { name: 'a\u200Bb' },
    { search: '' },
    { search: 's'.repeat(2_001) },
  ])
    expect([part, ...codeOf(await save(owner, { ...FAILED, ...part }))]).toEqual([
      part,
      422,
      'VALIDATION_ERROR',
    ]);
  const largest = { page: 'live/emails', name: 'n'.repeat(60), search: 's'.repeat(2_000) };
  expect((await save(owner, largest, second)).status).toBe(201);
  for (let made = 1; made < MOST_VIEWS; made++)
    expect((await save(owner, { ...FAILED, name: `View ${made}` }, second)).status).toBe(201);
  expect(codeOf(await save(owner, FAILED, second))).toEqual([409, 'CONFLICT']);
  expect((await save(owner, { ...FAILED, name: 'View 1' }, second)).status).toBe(201);
  expect((await save(owner, FAILED)).status).toBe(201);
});

test('requests at once cannot pass the limit, nor be refused for replacing', async () => {
  const { id } = (await owner.ask('/workspaces', { name: 'Initech' })).body.data;
  for (let made = 1; made < MOST_VIEWS; made++)
    expect((await save(owner, { ...FAILED, name: `View ${made}` }, id)).status).toBe(201);
  const others = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'].map((name) => save(owner, { ...FAILED, name }, id));
  const same = Array.from({ length: 8 }, () => save(owner, { ...FAILED, name: 'View 1' }, id));
  const statuses = (await Promise.all(others)).map(({ status }) => status).sort();
  expect(statuses).toEqual([201, ...Array.from({ length: 7 }, () => 409)]);
  expect((await Promise.all(same)).map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 201));
  expect(await viewsOf(owner, id)).toHaveLength(MOST_VIEWS);
});
