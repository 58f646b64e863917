import { afterAll, describe, expect, test } from 'bun:test';
import { connect } from 'node:net';
import { eventually } from '../support/eventually.ts';
import { type Asking, ask, speak } from './ask.ts';
import { hold } from './rows.ts';
import { keyOf, startSmallService, THING } from './small-service.ts';

const service = startSmallService();
afterAll(() => service[Symbol.dispose]());

const key = keyOf('live', 'all');
const MIB = 1_048_576;
const bytes = (text: string) => new TextEncoder().encode(text);
const create = (body: unknown, headers: Record<string, string> = {}): Asking => ({
  method: 'POST',
  path: '/v1/things',
  key,
  body,
  headers,
});
/** Without a content type: fetch adds none for bytes, and `ask` adds JSON's. */
const typed = (type: string, body: unknown = '{"name":"a"}') => create(body, { 'content-type': type });

describe('the content type of a request', () => {
  hold(service, [
    ['JSON', create({ name: 'a' }), 201],
    ['in another case', typed('Application/JSON'), 201],
    ['with a charset', typed('application/json; charset=UTF-8'), 201],
    ['with another charset', typed('application/json; charset=latin1'), 415, 'UNSUPPORTED_MEDIA_TYPE'],
    ['text', typed('text/plain'), 415, 'UNSUPPORTED_MEDIA_TYPE'],
    ['what begins like JSON', typed('application/jsonp'), 415, 'UNSUPPORTED_MEDIA_TYPE'],
    ['a form', typed('application/x-www-form-urlencoded', 'name=a'), 415, 'UNSUPPORTED_MEDIA_TYPE'],
    ['a multipart form', typed('multipart/form-data; boundary=x'), 415, 'UNSUPPORTED_MEDIA_TYPE'],
    ['two at once', typed('application/json, text/plain'), 415, 'UNSUPPORTED_MEDIA_TYPE'],
    ['an encoded body', create({ name: 'a' }, { 'content-encoding': 'gzip' }), 415, 'UNSUPPORTED_MEDIA_TYPE'],
    [
      'even one that is not',
      create({ name: 'a' }, { 'content-encoding': 'identity' }),
      415,
      'UNSUPPORTED_MEDIA_TYPE',
    ],
    [
      'a wrong one on a deletion',
      { ...typed('text/plain'), method: 'DELETE', path: `/v1/things/${THING}` },
      415,
      'UNSUPPORTED_MEDIA_TYPE',
    ],
    [
      'on GET it has no meaning',
      { path: `/v1/things/${THING}`, key, headers: { 'content-type': 'text/plain' } },
      200,
    ],
    ['the endpoint decides', { ...typed('text/csv', 'a,b'), path: '/v1/import' }, 202],
    ['JSON where a file is wanted', { ...create({}), path: '/v1/import' }, 415, 'UNSUPPORTED_MEDIA_TYPE'],
  ]);

  test('refuses a body without a content type', async () => {
    const heard = await speak(service.port, raw('POST /v1/things', ['Content-Length: 12'], '{"name":"a"}'));
    expect(heard).toStartWith('HTTP/1.1 415 ');
    const chunked = await speak(
      service.port,
      raw('POST /v1/things', ['Transfer-Encoding: chunked'], 'c\r\n{"name":"a"}\r\n0\r\n\r\n'),
    );
    expect(chunked).toStartWith('HTTP/1.1 415 ');
  });
});

describe('JSON parsing of request bodies', () => {
  hold(service, [
    ['malformed', create('{"name":'), 400, 'BAD_REQUEST'],
    ['two values', create('{"name":"a"}{"name":"b"}'), 400, 'BAD_REQUEST'],
    ['a trailing comma', create('{"name":"a",}'), 400, 'BAD_REQUEST'],
    ['not JSON at all', create('name=a'), 400, 'BAD_REQUEST'],
    ['only spaces', create('   '), 400, 'BAD_REQUEST'],
    ['not UTF-8', create(new Uint8Array([0x22, 0xff, 0x22])), 400, 'BAD_REQUEST'],
    ['a byte order mark before it is taken', create(bytes('\ufeff{"name":"a"}')), 201],
    ['null', create('null'), 422, 'VALIDATION_ERROR', ['/body']],
    ['a list', create('[]'), 422, 'VALIDATION_ERROR', ['/body']],
    ['a number', create('1'), 422, 'VALIDATION_ERROR', ['/body']],
    ['a string', create('"{}"'), 422, 'VALIDATION_ERROR', ['/body']],
    [
      '33 levels',
      create(`{"name":"a","extra":${'['.repeat(32)}${']'.repeat(32)}}`),
      422,
      'VALIDATION_ERROR',
      [`/body/extra${'/0'.repeat(31)}`],
    ],
    ['32 levels', create(`{"name":"a","extra":${'['.repeat(31)}${']'.repeat(31)}}`), 201],
    [
      '100,000 levels',
      create(`{"name":"a","extra":${'['.repeat(100_000)}${']'.repeat(100_000)}}`),
      422,
      'VALIDATION_ERROR',
    ],
    ['NUL', create('{"name":"a\\u0000"}'), 422, 'VALIDATION_ERROR', ['/body/name']],
    ['NUL in a name', create('{"name":"a","extra":{"\\u0000":1}}'), 422, 'VALIDATION_ERROR', ['/body/extra']],
    ['half a character', create('{"name":"\\ud83d"}'), 422, 'VALIDATION_ERROR', ['/body/name']],
    ['a whole one', create('{"name":"\\ud83d\\ude00"}'), 201],
    [
      'a number beyond all numbers',
      create('{"name":"a","extra":1e999}'),
      422,
      'VALIDATION_ERROR',
      ['/body/extra'],
    ],
  ]);
});

describe('schema validation of request bodies', () => {
  hold(service, [
    ['a missing member', create({}), 422, 'VALIDATION_ERROR', ['/body/name']],
    ['an unknown one', create({ name: 'a', nmae: 'b' }), 422, 'VALIDATION_ERROR', ['/body/nmae']],
    [
      '__proto__',
      create('{"name":"a","__proto__":{"admin":true}}'),
      422,
      'VALIDATION_ERROR',
      ['/body/__proto__'],
    ],
    ['a number in quotes', create({ name: 'a', count: '3' }), 422, 'VALIDATION_ERROR', ['/body/count']],
    [
      'a wrong item of a list',
      create({ name: 'a', to: ['x', 7, 'y'] }),
      422,
      'VALIDATION_ERROR',
      ['/body/to/1'],
    ],
    [
      'several at once',
      create({ name: '', count: 0, x: 1 }),
      422,
      'VALIDATION_ERROR',
      ['/body/count', '/body/name', '/body/x'],
    ],
    ['a name with a slash', create({ name: 'a', 'a/b~c': 1 }), 422, 'VALIDATION_ERROR', ['/body/a~1b~0c']],
    [
      'a day that does not exist',
      { ...create({ at: '2026-02-30T00:00:00Z' }), path: '/v1/optional' },
      422,
      'VALIDATION_ERROR',
      ['/body/at'],
    ],
    [
      'a date without an offset',
      { ...create({ at: '2026-02-20T00:00:00' }), path: '/v1/optional' },
      422,
      'VALIDATION_ERROR',
      ['/body/at'],
    ],
  ]);

  test('repeats no value of the request in its errors', async () => {
    const secret = 'hunter2';
    const bodies = [
      `{"name":${secret}`,
      { name: [secret] },
      { name: 'a', count: secret },
      { name: 'a', to: [[secret]] },
      `"${secret}"`,
    ];
    for (const body of bodies) expect((await ask(service.url, create(body))).text).not.toContain(secret);
    const asked = [
      { path: `/v1/things?limit=${secret}`, key },
      { path: `/v1/${secret}`, key },
      { path: '/v1/things', key: secret },
      { path: `/v1/things/${secret}`, key },
      typed(secret),
      create({ name: 'a' }, { 'idempotency-key': `${secret} x` }),
    ];
    for (const each of asked) expect((await ask(service.url, each)).text).not.toContain(secret);
  });
});

describe('empty request bodies', () => {
  const remove = { method: 'DELETE', path: `/v1/things/${THING}`, key };
  const optional = { method: 'POST', path: '/v1/optional', key };
  const json = { 'content-type': 'application/json' };
  hold(service, [
    ['none where there are no fields', remove, 204],
    ['none, called JSON', { ...remove, headers: json }, 204],
    [
      'none, of another type',
      { ...remove, headers: { 'content-type': 'text/plain' } },
      415,
      'UNSUPPORTED_MEDIA_TYPE',
    ],
    ['{} where there are no fields', { ...remove, body: {} }, 204],
    ['a field where there are none', { ...remove, body: { x: 1 } }, 422, 'VALIDATION_ERROR', ['/body/x']],
    ['null where there are none', { ...remove, body: 'null' }, 422, 'VALIDATION_ERROR', ['/body']],
    ['malformed where there are none', { ...remove, body: '{' }, 400, 'BAD_REQUEST'],
    ['none where all fields are optional', optional, 200],
    ['none where all fields are optional, called JSON', { ...optional, headers: json }, 200],
    [
      'none where fields are required',
      { method: 'POST', path: '/v1/things', key, headers: json },
      422,
      'VALIDATION_ERROR',
      ['/body/name'],
    ],
    [
      'an empty file',
      { method: 'POST', path: '/v1/import', key, headers: { 'content-type': 'text/csv' } },
      202,
    ],
  ]);

  test('treats an empty chunked body as empty', async () => {
    const heard = await speak(
      service.port,
      raw(
        `DELETE /v1/things/${THING}`,
        ['Content-Type: application/json', 'Transfer-Encoding: chunked'],
        '0\r\n\r\n',
      ),
    );
    expect(heard).toStartWith('HTTP/1.1 204 ');
  });
});

describe('size limits of request bodies', () => {
  const of = (size: number) => `{"name":"${'x'.repeat(size - 11)}"}`;
  // Counted are the two brackets that open, the comma of the two members, and those between the items.
  const valuesOf = (count: number) => `{"name":"a","extra":[${'1,'.repeat(count - 3)}1]}`;
  hold(service, [
    ['exactly the limit', create(of(MIB)), 201],
    ['one byte more', create(of(MIB + 1)), 413, 'PAYLOAD_TOO_LARGE'],
    ['the endpoint has its own', { ...typed('text/csv', 'x'.repeat(64)), path: '/v1/import' }, 202],
    [
      'and one byte more',
      { ...typed('text/csv', 'x'.repeat(65)), path: '/v1/import' },
      413,
      'PAYLOAD_TOO_LARGE',
    ],
    [
      'the type is judged before the size',
      { ...typed('text/plain', 'x'.repeat(65)), path: '/v1/import' },
      415,
      'UNSUPPORTED_MEDIA_TYPE',
    ],
    ['250,000 values', create(valuesOf(250_000)), 201],
    ['one value more', create(valuesOf(250_001)), 422, 'VALIDATION_ERROR'],
    ['the number of values before the syntax', create('{'.repeat(250_001)), 422, 'VALIDATION_ERROR'],
    ['the size before the syntax', create('x'.repeat(MIB + 1)), 413, 'PAYLOAD_TOO_LARGE'],
  ]);

  test('reports a missing content type before the size', async () => {
    const heard = await speak(service.port, raw('POST /v1/things', ['Content-Length: 99999999999999'], ''));
    expect(heard).toStartWith('HTTP/1.1 415 ');
  });

  test('refuses by Content-Length before reading the body', async () => {
    const heard = await speak(
      service.port,
      raw('POST /v1/things', ['Content-Type: application/json', 'Content-Length: 99999999999999'], ''),
    );
    expect(heard).toStartWith('HTTP/1.1 413 ');
    expect(heard).toContain('"PAYLOAD_TOO_LARGE"');
  });

  test('refuses a chunked body as it reaches the limit', async () => {
    const chunk = `10000\r\n${'x'.repeat(0x10000)}\r\n`;
    const heard = await speak(
      service.port,
      raw(
        'POST /v1/things',
        ['Content-Type: application/json', 'Transfer-Encoding: chunked'],
        chunk.repeat(17),
      ),
    );
    expect(heard).toStartWith('HTTP/1.1 413 ');
    expect(heard).toContain('"PAYLOAD_TOO_LARGE"');
  });

  test('accepts a chunked body below the limit', async () => {
    const heard = await speak(
      service.port,
      raw(
        'POST /v1/things',
        ['Content-Type: application/json', 'Transfer-Encoding: chunked'],
        '8\r\n{"name":\r\n4\r\n"a"}\r\n0\r\n\r\n',
      ),
    );
    expect(heard).toStartWith('HTTP/1.1 201 ');
  });

  test('answers 400 to a body that does not arrive', async () => {
    using brief = startSmallService({ timeouts: { workMs: 8_000, bodyMs: 50 } });
    const heard = await speak(
      brief.port,
      raw('POST /v1/things', ['Content-Type: application/json', 'Content-Length: 100'], '{"name":'),
    );
    expect(heard).toStartWith('HTTP/1.1 400 ');
    expect(heard).toContain('"BAD_REQUEST"');
  });
});

/** A request as bytes, on a connection that ends with it. */
function raw(target: string, headers: readonly string[], body: string): string {
  const all = ['Host: localhost', 'Connection: close', `Authorization: Bearer ${key}`, ...headers];
  return `${target} HTTP/1.1\r\n${all.join('\r\n')}\r\n\r\n${body}`;
}

test('counts a stalled body against its sender until it has arrived', async () => {
  using small = startSmallService({ bodyBudget: { total: 1_000_000, each: 300_000 } });
  const body = JSON.stringify({ name: 'a' }).padEnd(200_000);
  const other = () => ask(small.url, create(body));
  const headers = ['content-type: application/json', `content-length: ${body.length}`];
  const socket = connect(small.port, '127.0.0.1');
  const answered = Promise.withResolvers<string>();
  socket.on('data', (text) => answered.resolve(String(text)));
  socket.write(raw('POST /v1/things', headers, body.slice(0, -1)));
  // A caller with a valid key gets room before anything else can arrive.
  await eventually('the stalled request', async () => small.lookedUp[0]);
  const reply = await other();
  expect([reply.status, reply.body.error?.code, reply.headers.get('retry-after')]).toEqual([
    503,
    'SERVICE_UNAVAILABLE',
    '1',
  ]);
  expect((await ask(small.url, create({ name: 'small' }))).status).toBe(201);
  expect((await ask(small.url, { ...create(body), key: keyOf('test', 'all') })).status).toBe(201);
  socket.write(' ');
  expect(await answered.promise).toStartWith('HTTP/1.1 201 ');
  expect((await other()).status).toBe(201);
  socket.destroy();
});
