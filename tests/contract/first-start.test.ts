import { afterAll, beforeAll, expect, test } from 'bun:test';
import { lowestIdAt } from '../../src/platform/db/ids.ts';
import { Browser, codeOf, PASSWORD, setupToken } from './a-browser.ts';
import { type RealService, startRealService } from './real-service.ts';

// The first owner of an installation, and the sign-ups afterwards.

let service: RealService;
const OWNER = 'ada@acme.example';

beforeAll(async () => {
  service = await startRealService({ SIGNUP: 'open' });
});
afterAll(() => service[Symbol.asyncDispose]());

test('refuses every sign-up before the printed link made an owner', async () => {
  const stranger = new Browser(service);
  const form = { email: 'eve@evil.example', password: PASSWORD, name: 'Eve' };
  expect(codeOf(await stranger.ask('/signup', form))).toEqual([403, 'FORBIDDEN']);
  expect(codeOf(await stranger.ask('/setup', { ...form, token: 'guess' }))).toEqual([400, 'INVALID_TOKEN']);
});

test('makes one owner of two links that are used at the same time, and none later of those left over', async () => {
  const leftOver = await setupToken(service);
  const tokens = [await setupToken(service), await setupToken(service)];
  const told = await Promise.all(
    tokens.map(async (token, at) => {
      const browser = new Browser(service);
      const email = at === 0 ? OWNER : 'eve@evil.example';
      const answer = await browser.ask('/setup', { token, email, password: PASSWORD, name: 'Ada' });
      return { browser, answer, email };
    }),
  );
  expect(told.map(({ answer }) => answer.status).sort()).toEqual([201, 400]);
  expect(await setupToken(service)).toBe('');
  // Also when the first owner has left, and another member is owner.
  await service.service.database.query(`update members set id = 'mem_someoneelse'`);
  const late = { token: leftOver, email: 'late@evil.example', password: PASSWORD, name: 'Eve' };
  expect(codeOf(await new Browser(service).ask('/setup', late))).toEqual([400, 'INVALID_TOKEN']);
  await service.service.database.query('update members set id = $1', [lowestIdAt('mem', 0)]);
  const won = told.find(({ answer }) => answer.status === 201);
  const owner = won?.browser as Browser;
  if (won?.email !== OWNER)
    await service.service.database.query(`update accounts set email = $1, email_key = $1`, [OWNER]);
  expect((await owner.ask('/live/members')).body.data[0].lastSeenAt).not.toBeNull();
  expect((await owner.ask('/session')).body.data).toMatchObject({
    account: { email: OWNER },
    member: { role: 'owner' },
    permissions: ['*'],
    workspace: { id: service.workspaceId, archived: false },
  });
});

test('afterwards anyone may sign up where SIGNUP is open, into a new workspace', async () => {
  const browser = new Browser(service);
  const told = await browser.ask('/signup', { email: 'bob@b.example', password: PASSWORD, name: 'Bob' });
  expect(told.status).toBe(201);
  const { data } = (await browser.ask('/session')).body;
  expect(data.workspace.id).not.toBe(service.workspaceId);
  expect(data.member.role).toBe('owner');
  const again = { email: 'BOB@b.example', password: PASSWORD, name: 'Bob' };
  expect(codeOf(await new Browser(service).ask('/signup', again))).toEqual([409, 'CONFLICT']);
});
