import { afterAll, beforeAll, expect, test } from 'bun:test';
import { MOST_ROWS } from '../../src/accounts/members/selected-exports.ts';
import { MOST_SELECTED } from '../../src/web/dashboard/web/application/ui/lists/selected.ts';
import { type Browser, codeOf, inviteMember, setUpOwner } from './a-browser.ts';
import { type RealService, startRealService } from './real-service.ts';

// Rows that a member selects and saves as a file are in the audit log, as every other export is.

let service: RealService;
let owner: Browser;

beforeAll(async () => {
  service = await startRealService();
  owner = await setUpOwner(service);
});
afterAll(() => service?.[Symbol.asyncDispose]());

const LISTS = ['contacts', 'emails', 'suppressions'] as const;
const noted = async () => (await owner.ask('/live/audit-log')).body.data as readonly { action: string }[];

test('each export of selected rows is an entry of the member, with the number of rows', async () => {
  for (const list of LISTS) {
    const body = { environment: 'test', rows: 3 };
    const { status, headers } = await owner.ask(`/exports/${list}`, body);
    expect([list, status]).toEqual([list, 204]);
    const [entry] = await noted();
    expect(entry).toMatchObject({
      actor: { type: 'member', name: expect.stringContaining('Ada') },
      action: `${list}.exported`,
      details: { selected: true, ...body },
      requestId: headers.get('x-request-id'),
    });
  }
});

test('a member without the permission to read a list exports none of it, and no number is invented', async () => {
  const before = (await noted()).length;
  expect(MOST_ROWS).toBe(MOST_SELECTED);
  for (const rows of [0, MOST_ROWS + 1, 1.5])
    expect(codeOf(await owner.ask('/exports/contacts', { environment: 'live', rows }))).toEqual([
      422,
      'VALIDATION_ERROR',
    ]);
  expect(codeOf(await owner.ask('/exports/contacts', { environment: 'both', rows: 1 }))[0]).toBe(422);
  expect((await noted()).length).toBe(before);
  const most = { environment: 'live', rows: MOST_ROWS };
  const { browser } = await inviteMember(service, owner, 'viewer');
  expect((await browser.ask('/exports/contacts', most)).status).toBe(204);
  const key = await service.keyWith('live', ['*']);
  const byKey = { method: 'POST', path: '/app/api/exports/contacts', key, body: most };
  expect([401, 403]).toContain((await service.ask(byKey)).status);
  expect((await noted()).filter(({ action }) => action === 'contacts.exported')).toHaveLength(2);
});

test('an export that the audit log cannot take is refused, so that the page saves no file', async () => {
  const { database } = service.service;
  await database.query(
    "alter table audit_log add constraint refuses check (action <> 'contacts.exported') not valid",
    [],
  );
  const { status } = await owner.ask('/exports/contacts', { environment: 'live', rows: 1 });
  await database.query('alter table audit_log drop constraint refuses', []);
  expect(status).toBeGreaterThanOrEqual(500);
});
