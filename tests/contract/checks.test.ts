import { afterAll, describe, expect, test } from 'bun:test';
import { type FailureCode, STATUS_OF } from '../../src/platform/errors/failure.ts';
import { type Asking, ask, pathsOf } from './ask.ts';
import { hold } from './rows.ts';
import { keyOf, startSmallService, THING } from './small-service.ts';

const service = startSmallService();
afterAll(() => service[Symbol.dispose]());

const sender = keyOf('live', 'sender');
const reader = keyOf('live', 'reader');
const all = keyOf('live', 'all');
const MISSING = 'em_000000000000000000000002';

describe('authentication by API key', () => {
  const get = { path: '/v1/things' };
  const with_ = (authorization: string): Asking => ({ ...get, headers: { authorization } });
  hold(service, [
    ['a key that is known', { ...get, key: reader }, 200],
    ['no header', get, 401, 'UNAUTHORIZED'],
    ['an unknown key', { ...get, key: `svc_live_${'x'.repeat(32)}` }, 401, 'UNAUTHORIZED'],
    ['a key of another shape', { ...get, key: 'svc_live_short' }, 401, 'UNAUTHORIZED'],
    ['a key that is one too long', { ...get, key: `${reader}0` }, 401, 'UNAUTHORIZED'],
    ['a key of no environment', { ...get, key: `svc_prod_${'x'.repeat(32)}` }, 401, 'UNAUTHORIZED'],
    ['another scheme', with_(`Basic ${reader}`), 401, 'UNAUTHORIZED'],
    ['no scheme', with_(reader), 401, 'UNAUTHORIZED'],
    ['a scheme in lower case', with_(`bearer ${reader}`), 200],
    ['a scheme in upper case', with_(`BEARER ${reader}`), 200],
    ['two spaces', with_(`Bearer  ${reader}`), 200],
    ['no space', with_(`Bearer${reader}`), 401, 'UNAUTHORIZED'],
    ['a tab', with_(`Bearer\t${reader}`), 401, 'UNAUTHORIZED'],
    ['a key in upper case', with_(`Bearer ${reader.toUpperCase()}`), 401, 'UNAUTHORIZED'],
    ['two keys', with_(`Bearer ${reader}, Bearer ${reader}`), 401, 'UNAUTHORIZED'],
    ['an empty key', with_('Bearer '), 401, 'UNAUTHORIZED'],
    ['the key in the query', { path: `/v1/things?api_key=${reader}` }, 401, 'UNAUTHORIZED'],
    ['a public page needs none', { path: '/page' }, 200],
    ['nor does it care about a wrong one', { path: '/page', key: 'nonsense' }, 200],
  ]);

  test('names the scheme in a 401, and looks up nothing that is not shaped like a key', async () => {
    service.lookedUp.length = 0;
    const reply = await ask(service.url, { ...get, key: 'svc_live_short' });
    expect(reply.headers.get('www-authenticate')).toBe('Bearer');
    expect(service.lookedUp).toEqual([]);
  });
});

describe('routing of paths and methods', () => {
  hold(service, [
    ['an unknown path without a key', { path: '/v1/nothing' }, 401, 'UNAUTHORIZED'],
    ['an unknown path with one', { path: '/v1/nothing', key: all }, 404, 'NOT_FOUND'],
    ['the root', { path: '/', key: all }, 404, 'NOT_FOUND'],
    ['an unknown method without a key', { method: 'PUT', path: '/v1/things' }, 401, 'UNAUTHORIZED'],
    ['an unknown method with one', { method: 'PUT', path: '/v1/things', key: all }, 404, 'NOT_FOUND'],
    [
      'a wrong method on a public page, without a key',
      { method: 'POST', path: '/page' },
      401,
      'UNAUTHORIZED',
    ],
    ['a trailing slash', { path: '/v1/things/', key: all }, 404, 'NOT_FOUND'],
    ['another case', { path: '/V1/Things', key: all }, 404, 'NOT_FOUND'],
    [
      'an unknown path with a body is not read',
      { method: 'POST', path: '/v1/nothing', key: all, body: '{' },
      404,
      'NOT_FOUND',
    ],
    ['HEAD is GET without a body', { method: 'HEAD', path: '/v1/things', key: all }, 200],
    ['HEAD on what is missing', { method: 'HEAD', path: `/v1/things/${MISSING}`, key: all }, 404],
    ['HEAD without a key', { method: 'HEAD', path: '/v1/things' }, 401],
    ['HEAD where there is no GET', { method: 'HEAD', path: '/v1/optional', key: all }, 404],
    ['OPTIONS on an unknown path', { method: 'OPTIONS', path: '/v1/nothing' }, 401, 'UNAUTHORIZED'],
  ]);

  test('answers HEAD with the headers of GET', async () => {
    const [get, head] = await Promise.all([
      ask(service.url, { path: '/v1/things', key: all }),
      ask(service.url, { method: 'HEAD', path: '/v1/things', key: all }),
    ]);
    expect(head.headers.get('content-length')).toBe(String(get.text.length));
    expect(head.headers.get('content-type')).toBe('application/json');
  });

  test('answers OPTIONS with the methods of a path, without a key', async () => {
    const reply = await ask(service.url, { method: 'OPTIONS', path: `/v1/things/${THING}` });
    expect(reply.status).toBe(204);
    expect(reply.headers.get('allow')).toBe('GET, HEAD, PATCH, DELETE, OPTIONS');
  });
});

describe('permissions and test mode', () => {
  const act = { method: 'POST', path: `/v1/things/${THING}/act` };
  hold(service, [
    ['the permission itself', { path: '/v1/things', key: reader }, 200],
    ['`*` holds every one', { path: '/v1/things', key: all }, 200],
    ['another permission', { path: '/v1/things', key: sender }, 403, 'FORBIDDEN'],
    ['one of two', { ...act, key: sender }, 403, 'FORBIDDEN'],
    ['both of two', { ...act, key: keyOf('live', 'both') }, 200],
    [
      'a test key where it is refused',
      { ...act, key: keyOf('test', 'both') },
      403,
      'TEST_MODE_NOT_SUPPORTED',
    ],
    [
      'the permission is judged before the environment',
      { ...act, key: keyOf('test', 'reader') },
      403,
      'FORBIDDEN',
    ],
    ['any key', { method: 'POST', path: '/v1/optional', key: reader }, 200],
  ]);

  test('names the missing permission in a 403, and how to get it', async () => {
    const { body } = await ask(service.url, { ...act, key: sender });
    expect(body.error.message).toContain('campaigns:write');
    expect(body.error.suggestion).toContain('campaigns:write');
  });
});

describe('path parameters that are ids', () => {
  hold(service, [
    ['one that exists', { path: `/v1/things/${THING}`, key: all }, 200],
    ['one that does not', { path: `/v1/things/${MISSING}`, key: all }, 404, 'NOT_FOUND'],
    [
      'a malformed body is reported before a missing id',
      { method: 'PATCH', path: '/v1/things/x', key: all, body: {} },
      422,
      'VALIDATION_ERROR',
      ['/body/name'],
    ],
    [
      'a missing id with a good body',
      { method: 'PATCH', path: '/v1/things/x', key: all, body: { name: 'a' } },
      404,
      'NOT_FOUND',
    ],
  ]);

  test.each([
    'x',
    'em_',
    'em_1',
    `${THING}0`,
    THING.toUpperCase(),
    THING.replace('em_', 'evt_'),
    'em_00000000000000000000000i',
    '%00',
    '%ff',
    '%zz',
    '..%2f..',
    `${THING}%0a`,
    "'; drop table emails; --",
    'em_%F0%9F%98%80',
    'x'.repeat(5_000),
  ])('%p is answered as a missing one, before anything is looked at', async (id) => {
    service.done.length = 0;
    const [malformed, missing] = await Promise.all([
      ask(service.url, { path: `/v1/things/${id}`, key: all }),
      ask(service.url, { path: `/v1/things/${MISSING}`, key: all }),
    ]);
    expect(malformed.body).toEqual(missing.body);
    expect(service.done).toEqual([`get ${MISSING}`]);
  });
});

describe('query parameters', () => {
  const list = (search: string): Asking => ({ path: `/v1/things?${search}`, key: all });
  hold(service, [
    ['a limit', list('limit=2'), 200],
    ['a limit too high', list('limit=101'), 422, 'VALIDATION_ERROR', ['/query/limit']],
    ['an unknown parameter', list('offset=2'), 422, 'VALIDATION_ERROR', ['/query/offset']],
    ['a parameter twice', list('limit=2&limit=3'), 422, 'VALIDATION_ERROR', ['/query/limit']],
    ['a cursor that is none', list('after=abc'), 422, 'VALIDATION_ERROR', ['/query/after']],
    [
      'several at once',
      list('limit=x&order=y&z=1'),
      422,
      'VALIDATION_ERROR',
      ['/query/limit', '/query/order', '/query/z'],
    ],
    ['badly encoded', list('order=%zz'), 422, 'VALIDATION_ERROR', ['/query']],
    [
      'any at all where none is known',
      { path: `/v1/things/${THING}?x=1`, key: all },
      422,
      'VALIDATION_ERROR',
      ['/query/x'],
    ],
    [
      'query and body together',
      { method: 'POST', path: '/v1/things?x=1', key: all, body: {} },
      422,
      'VALIDATION_ERROR',
      ['/body/name', '/query/x'],
    ],
    ['pages for people ignore them', { path: '/page?utm_source=x' }, 200],
  ]);

  test('pages lists by cursor', async () => {
    const first = await ask(service.url, list('limit=3'));
    expect(first.body).toEqual({
      data: [{ id: 'e' }, { id: 'd' }, { id: 'c' }],
      pagination: { hasMore: true, nextCursor: expect.any(String) },
    });
    const second = await ask(service.url, list(`limit=3&after=${first.body.pagination.nextCursor}`));
    expect(second.body).toEqual({
      data: [{ id: 'b' }, { id: 'a' }],
      pagination: { hasMore: false, nextCursor: null },
    });
    const other = await ask(service.url, list(`order=up&after=${first.body.pagination.nextCursor}`));
    expect(pathsOf(other)).toEqual(['/query/after']);
  });
});

describe('error responses and headers', () => {
  test.each(Object.keys(STATUS_OF) as FailureCode[])(
    '%s has its status, and docs that lead to its own entry',
    async (code) => {
      if (code === 'VALIDATION_ERROR')
        return expect(
          (await ask(service.url, { method: 'POST', path: '/v1/things', key: all, body: {} })).status,
        ).toBe(422);
      const reply = await ask(service.url, { path: `/v1/failing/${code}`, key: all });
      expect(reply.status).toBe(STATUS_OF[code]);
      expect(reply.body.error.docs).toBe(`https://mail.example.com/docs/errors#${code}`);
    },
  );

  test('answers a deletion without body and content type', async () => {
    const reply = await ask(service.url, { method: 'DELETE', path: `/v1/things/${THING}`, key: all });
    expect([reply.status, reply.text, reply.headers.get('content-type')]).toEqual([204, '', null]);
  });

  test('forbids caching, framing and running API responses', async () => {
    const { headers } = await ask(service.url, { path: '/v1/things', key: all });
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('content-security-policy')).toBe("default-src 'none'; frame-ancestors 'none'");
  });

  test('keeps the headers that an HTML page sets itself', async () => {
    const reply = await ask(service.url, { path: '/page' });
    expect(reply.text).toBe('<h1>Page</h1>');
    expect(reply.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(reply.headers.get('cache-control')).toBe('max-age=60');
  });

  test('labels metrics by route, never by path', async () => {
    service.observed.length = 0;
    await ask(service.url, { path: `/v1/things/${THING}`, key: all });
    await ask(service.url, { path: '/v1/secret-path', key: all });
    expect(service.observed).toEqual([
      { method: 'GET', route: '/v1/things/:id', status: 200, ms: 0 },
      { method: 'GET', route: 'unknown', status: 404, ms: 0 },
    ]);
  });
});
