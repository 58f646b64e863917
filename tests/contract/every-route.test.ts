import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { PERMISSION_NAMES, type Permission } from '../../src/http/auth/permissions.ts';
import { permissionsOf } from '../../src/http/request/endpoint.ts';
import type { Route } from '../../src/http/request/route.ts';
import { type RealService, ROUTES, startRealService } from './real-service.ts';

let service: RealService;
/** By permission: a key that holds every other one. */
const keysWithout = new Map<Permission, string>();
let testKey: string;

beforeAll(async () => {
  service = await startRealService();
  testKey = await service.keyWith('test', ['*']);
  for (const needed of new Set(ROUTES.flatMap(permissionsOf))) {
    const others = PERMISSION_NAMES.filter((name) => name !== needed && name !== '*');
    keysWithout.set(needed, await service.keyWith('live', others));
  }
});
afterAll(() => service[Symbol.asyncDispose]());

/** The path with ids of the right form that no row has. */
const pathOf = ({ path, params = {} }: Route, id = '0'.repeat(24)) =>
  path.replace(/:(\w+)/g, (_, name: string) => {
    const spec = params[name];
    return spec && 'prefix' in spec ? `${spec.prefix}_${id}` : 'nothing';
  });

/** The body of an example, whose time has passed some day. */
const current = (body: unknown): unknown =>
  typeof body === 'object' && body !== null && 'scheduledAt' in body
    ? { ...body, scheduledAt: new Date(Date.now() + 86_400_000).toISOString() }
    : body;

for (const route of ROUTES) {
  const { method } = route;
  describe(`${method} ${route.path}`, () => {
    if (route.permission === 'public') {
      test('needs no API key', async () => {
        expect((await service.ask({ method, path: pathOf(route) })).status).toBeLessThan(400);
      });
      return;
    }

    test('answers 401 without a key', async () => {
      const reply = await service.ask({ method, path: pathOf(route) });
      expect(reply.body.error.code).toBe('UNAUTHORIZED');
    });

    for (const needed of permissionsOf(route)) {
      test(`without ${needed}: 403 that names it and says what to do`, async () => {
        const reply = await service.ask({ method, path: pathOf(route), key: keysWithout.get(needed) ?? '' });
        expect(reply.body.error).toMatchObject({
          code: 'FORBIDDEN',
          message: expect.stringContaining(needed),
          suggestion: expect.stringContaining(needed),
        });
      });
    }

    if (route.testMode !== undefined) {
      test('answers 403 TEST_MODE_NOT_SUPPORTED to a test key', async () => {
        const reply = await service.ask({ method, path: pathOf(route), key: testKey });
        expect(reply.body.error.code).toBe('TEST_MODE_NOT_SUPPORTED');
      });
    }

    if (Object.values(route.params ?? {}).some((spec) => 'prefix' in spec)) {
      test('answers an impossible id like a missing one', async () => {
        const body = method === 'GET' ? undefined : current(route.example?.body);
        const by = route.testMode !== undefined ? await service.keyWith('live', ['*']) : testKey;
        const asking = { method, key: by, ...(body !== undefined && { body }) };
        const missing = await service.ask({ ...asking, path: pathOf(route) });
        const malformed = await service.ask({ ...asking, path: pathOf(route, 'x') });
        expect(missing.status).toBe(404);
        expect(malformed.body).toEqual(missing.body);
      });
    }

    const texts = Object.entries(route.params ?? {}).filter(([, spec]) => !('prefix' in spec));
    if (texts.length > 0) {
      test.each(['%zz', '%ff', 'a%00b'])('%s is the name of nothing: 404', async (name) => {
        const path = texts.reduce((before, [param]) => before.replace(`:${param}`, name), route.path);
        const body = method === 'GET' ? undefined : current(route.example?.body);
        const key = await service.keyWith('live', ['*']);
        const reply = await service.ask({ method, path, key, ...(body !== undefined && { body }) });
        expect([reply.status, reply.body.error.code]).toEqual([404, 'NOT_FOUND']);
      });
    }

    test('answers 422 to an unknown query parameter', async () => {
      const reply = await service.ask({ method, path: `${pathOf(route)}?nonsense=1`, key: testKey });
      expect(reply.body.error.code).toBe(
        route.testMode !== undefined ? 'TEST_MODE_NOT_SUPPORTED' : 'VALIDATION_ERROR',
      );
    });

    if (method !== 'GET' && route.mediaTypes === undefined) {
      test('answers 400 to a body that is no JSON, and 415 to another content type', async () => {
        const asking = { method, path: pathOf(route), key: await service.keyWith('live', ['*']), body: '{"' };
        expect((await service.ask(asking)).body.error.code).toBe('BAD_REQUEST');
        const typed = { ...asking, headers: { 'content-type': 'text/plain' } };
        expect((await service.ask(typed)).body.error.code).toBe('UNSUPPORTED_MEDIA_TYPE');
      });

      test('answers 422 to an unknown member', async () => {
        const key = await service.keyWith('live', ['*']);
        const reply = await service.ask({ method, path: pathOf(route), key, body: { nonsense: 1 } });
        const paths = reply.body.error.details.map(({ path }: { path: string }) => path);
        expect(paths).toContain('/body/nonsense');
      });
    }
  });
}
