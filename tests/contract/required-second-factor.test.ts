import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { totpCode } from '../../src/http/auth/passwords/totp.ts';
import { type Browser, inviteMember, setUpOwner } from './a-browser.ts';
import { type RealService, startRealService } from './real-service.ts';

let service: RealService;
let owner: Browser;

const needed = [403, expect.stringContaining('second factor')];
const told = ({ status, body }: { status: number; body: { error?: { message: string } } | null }) => [
  status,
  body?.error?.message,
];
const rename = (browser: Browser) => browser.ask('/live/workspace', { name: 'Acme' }, 'PATCH');
const step = () => Math.floor(Date.now() / 30_000);
async function secure(browser: Browser): Promise<string> {
  const { secret } = (await browser.ask('/account/totp', {})).body.data;
  expect((await browser.ask('/account/totp/confirm', { code: totpCode(secret, step()) })).status).toBe(200);
  return secret;
}

describe('REQUIRE_TWO_FACTOR=admins', () => {
  beforeAll(async () => {
    service = await startRealService({ REQUIRE_TWO_FACTOR: 'admins' });
    owner = await setUpOwner(service);
  });
  afterAll(() => service[Symbol.asyncDispose]());

  test('an owner only reads, and acts nowhere as one, until there is a second factor', async () => {
    expect((await owner.ask('/session')).body.data.member).toMatchObject({
      role: 'owner',
      needsSecondFactor: true,
    });
    expect((await owner.ask('/live/emails')).status).toBe(200);
    expect(told(await rename(owner))).toEqual(needed);
    const { workspaceId } = service;
    expect(told(await owner.ask('/workspaces', { name: 'Second' }))).toEqual(needed);
    expect(told(await owner.ask(`/workspaces/${workspaceId}`, { archived: true }, 'PATCH'))).toEqual(needed);
    expect(told(await owner.ask(`/workspaces/${workspaceId}`, {}, 'DELETE'))).toEqual(needed);
    const secret = await secure(owner);
    expect((await rename(owner)).status).toBe(200);
    expect((await owner.ask('/session')).body.data.member.needsSecondFactor).toBe(false);
    // Without it everything is as before, from the next request on.
    const code = totpCode(secret, step() + 1);
    expect((await owner.ask('/account/totp', { code }, 'DELETE')).status).toBe(204);
    expect(told(await rename(owner))).toEqual(needed);
    await secure(owner);
  });

  test('an admin as well; members work without one', async () => {
    const admin = await inviteMember(service, owner, 'admin');
    expect(told(await rename(admin.browser))).toEqual(needed);
    const member = await inviteMember(service, owner, 'member');
    expect((await member.browser.ask('/live/contacts', { email: 'a@acme.example' })).status).toBe(201);
    // A new admin needs a second factor from then on, and may still lose the role.
    expect((await owner.ask(`/live/members/${member.id}`, { role: 'admin' }, 'PATCH')).status).toBe(200);
    expect(told(await member.browser.ask('/live/contacts', { email: 'b@acme.example' }))).toEqual(needed);
  });
});

describe('REQUIRE_TWO_FACTOR=everyone', () => {
  test('asks members for one too', async () => {
    await using strict = await startRealService({ REQUIRE_TWO_FACTOR: 'everyone' });
    const first = await setUpOwner(strict);
    await secure(first);
    const member = await inviteMember(strict, first, 'member');
    expect(told(await member.browser.ask('/live/contacts', { email: 'a@acme.example' }))).toEqual(needed);
    await secure(member.browser);
    expect((await member.browser.ask('/live/contacts', { email: 'a@acme.example' })).status).toBe(201);
  });
});
