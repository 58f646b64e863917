import { describe, expect, test } from 'bun:test';
import { Type } from '@sinclair/typebox';
import { isAsync } from 'elysia/compose';
import { RateLimiter } from '../../../src/http/limits/rate-limit.ts';
import { endpointOf } from '../../../src/http/request/endpoint.ts';
import { dropPipelined } from '../../../src/http/request/exchange.ts';
import { application, checksOf, type HttpDeps, hooksOf } from '../../../src/http/request/pipeline.ts';
import { type Route, route } from '../../../src/http/request/route.ts';
import { LocalCounter } from '../../../src/platform/time/window-counter.ts';

const counter = new LocalCounter(60_000, () => 0);
const deps: HttpDeps = {
  authenticate: () => null,
  baseUrl: 'http://localhost',
  limiter: new RateLimiter({ perAddress: 0, perKey: 0 }, counter, counter),
  clientAddress: () => '',
  clock: { now: () => 0, monotonic: () => 0 },
  log: { warn() {}, error() {} },
  recordAct: async () => {},
  noteChange() {},
};
const AUDIT = { audit: { action: 'thing.made' } };
const made = (spec: Partial<Route>): Route => ({
  ...route('GET /v1/things', {
    permission: 'emails:read',
    summary: 'Ask',
    response: Type.Null(),
    status: 200,
    handle: () => null,
  }),
  ...spec,
});
/** The hooks of one sort, as Elysia holds them: none, one or several. */
const hooksIn = <Hook>(held: Hook | Hook[] | undefined): Hook[] =>
  held === undefined ? [] : ([held].flat() as Hook[]);
const upload: Partial<Route> = { receive: () => Promise.reject(new Error('No body was sent.')) };
const byId: Partial<Route> = { path: '/v1/things/:id', params: { id: { prefix: 'em', resource: 'thing' } } };

const checks = checksOf(deps, 1_000);
const { admission, change, audit, input, stored, ids, idempotency, answer } = checks;

describe('the hooks of an endpoint, in the order of the checks', () => {
  test.each<[string, Partial<Route>, readonly unknown[], readonly unknown[]]>([
    ['a page', { permission: 'public' }, [admission, input], []],
    ['a public form', { permission: 'public', method: 'POST' }, [dropPipelined, admission, input], []],
    ['a list', {}, [admission, input], []],
    ['one of a list', byId, [admission, input, ids], []],
    ['a list that is audited', AUDIT, [admission, input], [audit]],
    ['a public page that is audited', { ...AUDIT, permission: 'public' }, [admission, input], []],
    ['a POST', { method: 'POST' }, [dropPipelined, admission, input, idempotency], []],
    ['a PATCH', { ...byId, method: 'PATCH' }, [dropPipelined, admission, input, ids], []],
    [
      'an upload that is audited and changes a list',
      { ...upload, ...AUDIT, ...byId, method: 'POST', permission: 'contacts:write' },
      [dropPipelined, admission, input, idempotency, ids],
      [change, audit, stored],
    ],
  ])('%s', (_, spec, before, after) => {
    const hooks = hooksOf(endpointOf(made(spec)), checks);
    expect(hooks).toMatchObject({ parse: 'none', transform: expect.any(Function) });
    expect(hooks.beforeHandle).toEqual([...before] as never);
    expect(hooks.afterHandle).toEqual([...after, answer.afterHandle] as never);
    expect(hooks.error).toEqual([...(spec.receive ? [stored] : []), answer.error]);
  });
});

test('Elysia waits for the handler, for every hook before it, and for every later one that takes time', () => {
  const routes = [
    made({ ...byId, method: 'POST', permission: 'contacts:write' }),
    made({ ...upload, ...AUDIT, method: 'POST' }),
  ];
  const later = application(routes.map(endpointOf), deps)
    .routes.slice(0, routes.length)
    .map(({ compile, handler, hooks }) => {
      compile();
      for (const hook of hooksIn(hooks.beforeHandle)) expect(isAsync(hook)).toBe(true);
      expect(isAsync(handler)).toBe(true);
      return {
        after: hooksIn(hooks.afterHandle).map(isAsync),
        error: hooksIn(hooks.error).map(isAsync),
      };
    });
  // `audit` and `stored` write. `change` and `answer` do not, and each wait would cost every request. For an
  // error it costs little.
  expect(later).toEqual([
    { after: [false, false], error: [true] },
    { after: [true, true, false], error: [true, true] },
  ]);
});

test('Elysia knows every route, its OPTIONS and the rest, each behind admission', () => {
  const routes = [made({}), made({ method: 'POST' }), made({ ...byId, method: 'DELETE' })];
  const known = application(routes.map(endpointOf), deps).routes;
  expect(known.map(({ method, path }) => `${method} ${path}`)).toEqual([
    'GET /v1/things',
    'POST /v1/things',
    'DELETE /v1/things/:id',
    'OPTIONS /v1/things',
    'OPTIONS /v1/things/:id',
    'ALL /*',
  ]);
  const guards = known.map(({ hooks }) => [hooks.beforeHandle].flat());
  const [admission] = guards.at(-1) ?? [];
  for (const guard of guards) expect(guard).toContainEqual(admission);
});
