import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { membersModule } from '../../src/accounts/members/module.ts';
import { holds, type Permission } from '../../src/http/auth/permissions.ts';
import { ROLE_NAMES, ROLES, type Role } from '../../src/http/auth/roles.ts';
import { DASHBOARD_API, type Route } from '../../src/http/request/route.ts';
import { Browser, inviteMember, PASSWORD, setUpOwner } from './a-browser.ts';
import { type RealService, ROUTES, startRealService } from './real-service.ts';

// Every route is asked by every role, in both environments: what a role may do is what the route says, and
// nothing else.

let service: RealService;
const people = new Map<Role, Browser>();

beforeAll(async () => {
  service = await startRealService();
  const owner = await setUpOwner(service);
  people.set('owner', owner);
  for (const role of ['admin', 'member', 'viewer'] as const)
    people.set(role, (await inviteMember(service, owner, role)).browser);
});
afterAll(() => service[Symbol.asyncDispose]());

const GUARDED = ROUTES.filter(({ path, permission }) => path.startsWith('/v1/') && permission !== 'public');

/** The path with a name for each parameter that nothing has. */
const pathOf = ({ path, params = {} }: Route): string =>
  path.replace(/:(\w+)/g, (_, name: string) => {
    const spec = params[name];
    return spec && 'prefix' in spec ? `${spec.prefix}_${'0'.repeat(24)}` : 'nobody@example.com';
  });

const isLacking = ({ status, text }: { status: number; text: string }): boolean =>
  status === 403 && text.includes('lacks the permission');

describe.each([...ROLE_NAMES])('the role %s', (role) => {
  test('may do what each route asks for, and is refused everything else by the name of the permission', async () => {
    const browser = people.get(role) as Browser;
    for (const route of GUARDED)
      for (const environment of ['live', 'test']) {
        const path = `/${environment}${pathOf(route).slice('/v1'.length)}`;
        const told = await browser.ask(path, route.method === 'GET' ? undefined : {}, route.method);
        const { permission } = route;
        const needed = permission === 'any key' ? [] : ([permission].flat() as Permission[]);
        const missing = needed.find((each) => !holds(ROLES[role], each));
        expect([route.method, path, isLacking(told)]).toEqual([route.method, path, missing !== undefined]);
        if (missing) expect(told.text).toContain(`the permission ${missing}`);
        expect(told.status).not.toBe(401);
        expect(told.status).toBeLessThan(600);
        if (told.status >= 500) expect(told.body.error.code).toBe('SERVICE_UNAVAILABLE');
      }
  });
});

const OWN = (membersModule.pages?.({} as never) ?? []).filter(({ credential }) => credential === 'session');

test('what people do for themselves is answered to their session alone, and not to another site that has it', async () => {
  expect(OWN.length).toBeGreaterThan(15);
  const key = await service.keyWith('live', ['*']);
  const nobody = new Browser(service);
  const elsewhere = new Browser(service, 'https://evil.example');
  elsewhere.cookie = (people.get('owner') as Browser).cookie;
  for (const route of OWN) {
    const { method } = route;
    const path = pathOf(route);
    const own = path.slice(DASHBOARD_API.length);
    expect([method, path, (await nobody.ask(own, undefined, method)).status]).toEqual([method, path, 401]);
    const byKey = await service.ask({ method, path, key, ...(method !== 'GET' && { body: {} }) });
    expect([method, path, byKey.status]).toEqual([method, path, 401]);
    if (method === 'GET') continue;
    expect([method, path, (await elsewhere.ask(own, {}, method)).status]).toEqual([method, path, 403]);
  }
});

test('a workspace is changed by its owners, and is not there for anybody else', async () => {
  const owner = people.get('owner') as Browser;
  const { id: other } = (await owner.ask('/workspaces', { name: 'Other' })).body.data;
  for (const role of ['admin', 'member', 'viewer'] as const) {
    const browser = people.get(role) as Browser;
    for (const [method, after, body] of [
      ['PATCH', '', { name: 'Mine' }],
      ['DELETE', '', {}],
      ['POST', '/switch', {}],
    ] as const) {
      const told = await browser.ask(`/workspaces/${other}${after}`, body, method);
      expect([role, method, after, told.status]).toEqual([role, method, after, 404]);
      if (after !== '') continue;
      const at = await browser.ask(`/workspaces/${service.workspaceId}`, body, method);
      expect([role, method, at.status]).toEqual([role, method, 403]);
    }
  }
  // A name appears in subjects and before addresses: it is one line, and fully visible.
  for (const name of ['A\r\nBcc: b@b.example', 'A\u202eB']) {
    expect((await owner.ask('/workspaces', { name })).status).toBe(422);
    expect((await owner.ask(`/workspaces/${other}`, { name }, 'PATCH')).status).toBe(422);
  }
});

test('every role holds what the one below it does', () => {
  for (const [index, role] of ROLE_NAMES.entries())
    for (const permission of ROLES[ROLE_NAMES[index - 1] ?? role] as readonly Permission[])
      expect([role, permission, holds(ROLES[role], permission)]).toEqual([role, permission, true]);
});

test('an invitation does not outlive the key that made it, nor what that key may do', async () => {
  const owner = people.get('owner') as Browser;
  const { data } = (await owner.ask('/live/api-keys', { name: 'Inviter', env: 'live', permissions: ['*'] }))
    .body;
  const invite = async (email: string, role: string) => {
    const path = '/v1/members/invitations';
    const told = await service.ask({ method: 'POST', path, key: data.key, body: { email, role } });
    return [told.status, told.body.data?.url.split('#token=')[1]];
  };
  const accept = async (token: string) => {
    const told = await new Browser(service).ask('/invitation', { token, name: 'Eve', password: PASSWORD });
    return [told.status, told.body.error?.code];
  };
  const [, boss] = await invite('boss@key.example', 'owner');
  const [, reader] = await invite('reader@key.example', 'viewer');
  const [, later] = await invite('later@key.example', 'viewer');
  await owner.ask(`/live/api-keys/${data.id}`, { permissions: ['api-keys:write', 'members:write'] }, 'PATCH');
  expect(await accept(boss)).toEqual([400, 'INVALID_TOKEN']);
  expect(await accept(reader)).toEqual([201, undefined]);
  // An invitation that opens nothing any more does not block another one.
  expect((await invite('boss@key.example', 'viewer'))[0]).toBe(201);
  await owner.ask(`/live/api-keys/${data.id}`, {}, 'DELETE');
  expect(await accept(later)).toEqual([400, 'INVALID_TOKEN']);
  const again = await owner.ask('/live/members/invitations', { email: 'later@key.example', role: 'viewer' });
  expect(again.status).toBe(201);
});
