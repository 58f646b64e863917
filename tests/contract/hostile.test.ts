import { afterAll, describe, expect, test } from 'bun:test';
import { expectEnvelope, speak } from './ask.ts';
import { keyOf, startSmallService, THING } from './small-service.ts';

// The requests that Bun's parser lets through, and those that it stops. An upgrade that changes either shouts
// here.

const service = startSmallService();
afterAll(() => service[Symbol.dispose]());
const KEY = `Authorization: Bearer ${keyOf('live', 'all')}`;
const GET = `/v1/things/${THING}`;

/** The status line's code and the JSON body of one exchange. */
async function exchange(request: string): Promise<{ status: number; body: unknown }> {
  const heard = await speak(service.port, request);
  const text = heard.slice(heard.indexOf('\r\n\r\n') + 4);
  return { status: Number(heard.split(' ')[1]), body: text === '' ? null : JSON.parse(text) };
}

const http = (line: string, headers: readonly string[], body = '') =>
  `${line}\r\n${[...headers, 'Connection: close'].join('\r\n')}\r\n\r\n${body}`;

describe('odd request targets and Host headers', () => {
  test.each<[string, string, string[], number]>([
    ['HTTP/1.0 without a host, as probes send it', `GET ${GET} HTTP/1.0`, [KEY], 200],
    ['an empty host', `GET ${GET} HTTP/1.1`, ['Host:', KEY], 200],
    ['a host of one letter', `GET ${GET} HTTP/1.1`, ['Host: a', KEY], 200],
    ['a host with a path', `GET ${GET} HTTP/1.1`, ['Host: a/v1/nothing', KEY], 400],
    ['a host with a query', `GET ${GET} HTTP/1.1`, ['Host: a?limit=1', KEY], 400],
    ['a host twice', `GET ${GET} HTTP/1.1`, ['Host: a', 'Host: b', KEY], 400],
    ['a host that is no host', `GET ${GET} HTTP/1.1`, ['Host: [::1]]:99999', KEY], 400],
    ['an unknown path at a host that is no host', 'GET /v1/nothing HTTP/1.1', ['Host: [::1]]:99999'], 400],
    ['an absolute target', `GET http://other.example${GET} HTTP/1.1`, ['Host: a', KEY], 200],
    [
      'dots are resolved before the route is found',
      `GET /v1/nothing/../things/${THING} HTTP/1.1`,
      ['Host: a', KEY],
      200,
    ],
    ['a doubled slash', `GET //v1/things/${THING} HTTP/1.1`, ['Host: a', KEY], 404],
    ['a fragment', `GET ${GET}#x HTTP/1.1`, ['Host: a', KEY], 404],
    ['a fragment behind a query', `GET /v1/things?limit=1#x HTTP/1.1`, ['Host: a', KEY], 422],
    ['a query of nothing but separators', `GET /v1/things?&&& HTTP/1.1`, ['Host: a', KEY], 200],
    ['CONNECT', 'CONNECT a:80 HTTP/1.1', ['Host: a'], 401],
    ['CONNECT to no port', 'CONNECT :99999999 HTTP/1.1', ['Host: a'], 401],
    ['CONNECT with credentials', 'CONNECT user@host:1 HTTP/1.1', ['Host: a'], 401],
    ['TRACE is an unknown method', `TRACE ${GET} HTTP/1.1`, ['Host: a', KEY], 404],
    ['a method of another protocol', `PROPFIND ${GET} HTTP/1.1`, ['Host: a'], 401],
    ['two keys', `GET ${GET} HTTP/1.1`, ['Host: a', KEY, KEY], 401],
  ])('%s', async (_, line, headers, status) => {
    const reply = await exchange(http(line, headers));
    expect(reply.status).toBe(status);
    if (status >= 400) expectEnvelope(status, reply.body);
  });

  test('leave the body whole under an odd Host header', async () => {
    const headers = ['Host:', KEY, 'Content-Type: application/json', 'Content-Length: 12'];
    expect((await exchange(http('POST /v1/things HTTP/1.1', headers, '{"name":"a"}'))).status).toBe(201);
  });
});

describe('conflicting Content-Length and Transfer-Encoding', () => {
  const json = ['Host: a', KEY, 'Content-Type: application/json'];
  test.each<[string, string[], string, number]>([
    ['the same length twice', ['Content-Length: 12', 'Content-Length: 12'], '{"name":"a"}', 400],
    ['two lengths', ['Content-Length: 12', 'Content-Length: 13'], '{"name":"a"}', 400],
    ['a length and chunks', ['Content-Length: 12', 'Transfer-Encoding: chunked'], '0\r\n\r\n', 400],
    ['chunks in something else', ['Transfer-Encoding: gzip, chunked'], '0\r\n\r\n', 400],
    ['a negative length', ['Content-Length: -1'], '', 400],
    ['a length in another notation', ['Content-Length: 1e1'], '', 400],
    ['a promise to continue', ['Content-Length: 12', 'Expect: 100-continue'], '{"name":"a"}', 201],
  ])('%s', async (_, headers, body, status) => {
    const heard = await speak(service.port, http('POST /v1/things HTTP/1.1', [...json, ...headers], body));
    expect(heard.replace('HTTP/1.1 100 Continue\r\n\r\n', '')).toStartWith(`HTTP/1.1 ${status} `);
  });

  test('read what follows a refused body as a separate request', async () => {
    const refused = `POST /v1/nothing HTTP/1.1\r\nHost: a\r\n${KEY}\r\nContent-Length: 5\r\n\r\nabcde`;
    const heard = await speak(service.port, refused + http(`GET ${GET} HTTP/1.1`, ['Host: a', KEY]));
    expect(heard.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 404', 'HTTP/1.1 200']);
  });
});

test('endless headers and request targets are refused by the parser', async () => {
  const long = 'a'.repeat(32_768);
  expect(await speak(service.port, http(`GET ${GET} HTTP/1.1`, ['Host: a', `X-Long: ${long}`]))).toStartWith(
    'HTTP/1.1 431 ',
  );
  expect(await speak(service.port, http(`GET /${long} HTTP/1.1`, ['Host: a']))).toStartWith('HTTP/1.1 431 ');
});
