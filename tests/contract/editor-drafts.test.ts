import { afterAll, beforeAll, expect, test } from 'bun:test';
import { LARGEST_DRAFT, MOST_DRAFTS } from '../../src/accounts/members/editor-drafts.ts';
import { createWorkspace } from '../../src/accounts/workspace/commands.ts';
import { type Browser, codeOf, inviteMember, setUpOwner } from './a-browser.ts';
import { type RealService, startRealService } from './real-service.ts';

// Unsaved changes of members: each page keeps one draft, others learn which fields it has, and not what they
// say.

let service: RealService;
let owner: Browser;

beforeAll(async () => {
  service = await startRealService();
  owner = await setUpOwner(service);
});
afterAll(() => service?.[Symbol.asyncDispose]());

const PLACE = 'live/campaigns/cmp_01m7xhns80b7w3sdg5jc4356';
const keyOf = (page: number) => `00000000-0000-4000-8000-${String(page).padStart(12, '0')}-r1`;
const draft = (more: object = {}) => ({
  key: keyOf(1),
  place: PLACE,
  updatedAt: '2026-11-29T05:00:00.000Z',
  values: { subject: 'Typed “so”\n', canary: null },
  sums: { subject: 'a1', canary: 'b2' },
  ...more,
});
const keep = (browser: Browser, more: object = {}) => browser.ask('/drafts', draft(more), 'PUT');
const asked = async (browser: Browser, path: string, place: string) =>
  (await browser.ask(`${path}?${new URLSearchParams({ place })}`, undefined, 'GET')).body.data;
const at = async (browser: Browser, place = PLACE) => ({
  own: await asked(browser, '/drafts', place),
  others: await asked(browser, '/drafts/others', place),
});
const remove = (browser: Browser, key = keyOf(1)) =>
  browser.ask(`/drafts?${new URLSearchParams({ key })}`, {}, 'DELETE');

test('a draft is kept, replaced by its page, listed at its resource, and removed', async () => {
  const first = await keep(owner);
  expect([first.status, first.body.data]).toEqual([200, { at: expect.any(Number) }]);
  expect(await at(owner)).toEqual({
    own: [{ ...draft(), place: undefined, at: first.body.data.at }],
    others: [],
  });
  await keep(owner, { values: { name: 'x' }, sums: { name: 'c' } });
  const { own } = await at(owner);
  expect(own).toMatchObject([{ values: { name: 'x' }, sums: { name: 'c' } }]);
  expect(await at(owner, PLACE.replace('live', 'test'))).toEqual({ own: [], others: [] });
  expect((await remove(owner)).status).toBe(204);
  expect((await remove(owner)).status).toBe(204);
  expect(await at(owner)).toEqual({ own: [], others: [] });
});

test('another member learns of whom and which fields, and neither reads nor removes the text', async () => {
  const { id, browser } = await inviteMember(service, owner, 'viewer');
  await keep(owner);
  const seen = await at(browser);
  expect(seen).toEqual({
    own: [],
    others: [{ name: expect.any(String), at: expect.any(Number), fields: ['subject', 'canary'] }],
  });
  expect(JSON.stringify(seen)).not.toContain('Typed');
  await remove(browser);
  expect((await at(owner)).own).toHaveLength(1);
  // The same key of another member is another draft, which goes with the member.
  await keep(browser, { values: { subject: 'Of the other' } });
  expect((await at(owner)).own).toMatchObject([{ values: draft().values }]);
  expect((await owner.ask(`/live/members/${id}`, {}, 'DELETE')).status).toBe(204);
  expect((await at(owner)).others).toEqual([]);
  await remove(owner);
});

test('the oldest draft of a member makes room for one beyond the limit', async () => {
  for (let page = 1; page <= MOST_DRAFTS + 1; page++) {
    expect((await keep(owner, { key: keyOf(page), place: `${PLACE}${page % 10}` })).status).toBe(200);
  }
  const left = await service.service.database.query<{ key: string }>('select key from editor_drafts');
  expect(left).toHaveLength(MOST_DRAFTS);
  for (let page = 1; page <= MOST_DRAFTS + 1; page++) await remove(owner, keyOf(page));
});

const many = (count: number) =>
  Array.from({ length: count }, (_, at) => [String(at).padStart(40, 'f'), 'x'.repeat(40)]);

test('what is no draft is refused, and so is one beyond the largest', async () => {
  for (const part of [
    { place: 'live/settings' },
    { place: 'live/contacts/con_1' },
    { place: 'campaigns/cmp_1' },
    { key: 'x' },
    { key: `${keyOf(1)} ` },
    { updatedAt: '' },
    { values: [] },
    { sums: { a: 1 } },
    // Names of fields are shown to other members, and are kept beside the text.
    { sums: { ['x'.repeat(41)]: 'a' } },
    { sums: { 'your password: click here': 'a' } },
    { sums: { '': 'a' } },
    { values: { ['x'.repeat(41)]: 1 } },
    { values: Object.fromEntries(many(61)) },
    { sums: Object.fromEntries(many(61)) },
    { sums: { subject: 'x'.repeat(41) } },
  ])
    expect([part, ...codeOf(await keep(owner, part))]).toEqual([part, 422, 'VALIDATION_ERROR']);
  const most = Object.fromEntries(many(60));
  expect((await keep(owner, { values: most, sums: most })).status).toBe(200);
  const room = LARGEST_DRAFT - JSON.stringify({ source: '' }).length;
  const sized = (length: number) => ({ values: { source: 'x'.repeat(length) }, sums: { source: 'a' } });
  expect((await keep(owner, sized(room))).status).toBe(200);
  expect(codeOf(await keep(owner, sized(room + 1)))).toEqual([422, 'VALIDATION_ERROR']);
  await remove(owner);
});

test('a workspace learns nothing of the drafts of another, also of one person in both', async () => {
  const place = PLACE.replace('cmp_', 'cmp_0');
  await keep(owner, { place });
  const { database } = service.service;
  const other = { name: 'Other', plan: 'growth', owner: null } as const;
  const otherId = await createWorkspace(database, other, Date.now());
  await database.query(
    `insert into editor_drafts select (jsonb_populate_record(d, jsonb_build_object('workspace_id', $1::text))).* from editor_drafts d`,
    [otherId],
  );
  await remove(owner);
  expect(await at(owner, place)).toEqual({ own: [], others: [] });
  const { browser } = await inviteMember(service, owner, 'admin');
  expect(await at(browser, place)).toEqual({ own: [], others: [] });
  const left = await database.query('select workspace_id as id from editor_drafts');
  expect(left).toEqual([{ id: otherId }]);
  await database.query('delete from editor_drafts');
});
