import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { holds, type Permission } from '../../src/auth/permissions.ts';
import { ROLE_NAMES, ROLES, type Role } from '../../src/auth/roles.ts';
import type { Route } from '../../src/http/route.ts';
import { Browser, inviteMember, PASSWORD, setUpOwner } from './a-browser.ts';
import { type RealService, ROUTES, startRealService } from './real-service.ts';

// Every route is asked by every role, in both environments: what a role may do is what the route says, and nothing else.

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
  // What opens nothing any more is not in the way of another invitation.
  expect((await invite('boss@key.example', 'viewer'))[0]).toBe(201);
  await owner.ask(`/live/api-keys/${data.id}`, {}, 'DELETE');
  expect(await accept(later)).toEqual([400, 'INVALID_TOKEN']);
  const again = await owner.ask('/live/members/invitations', { email: 'later@key.example', role: 'viewer' });
  expect(again.status).toBe(201);
});
