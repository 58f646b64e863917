import { afterAll, beforeEach, describe, expect, test } from 'bun:test';
import { connect } from 'node:net';
import { keyOf, startSmallService } from './small-service.ts';

const key = keyOf('live', 'all');
const service = startSmallService();
afterAll(() => service[Symbol.dispose]());
beforeEach(() => {
  service.done.length = 0;
});

/** All that is answered on a connection until it is closed, or the request that closes it was answered. */
const heard = (sent: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const socket = connect(service.port, '127.0.0.1', () => socket.write(sent));
    let text = '';
    socket.on('data', (data) => {
      text += data.toString('latin1');
    });
    socket.on('close', () => resolve(text));
    socket.on('error', reject);
  });

const get = (hosts: string) =>
  `GET /v1/things HTTP/1.1\r\n${hosts}Authorization: Bearer ${key}\r\nConnection: close\r\n\r\n`;

describe('the Host of a request', () => {
  test.each([
    ['two different', 'Host: a.example\r\nHost: b.example\r\n'],
    ['twice the same', 'Host: a.example\r\nHost: a.example\r\n'],
    ['two of which one is empty', 'Host: a.example\r\nHost:\r\n'],
    ['a list', 'Host: a.example, b.example\r\n'],
    ['a list without a space', 'Host: a.example,b.example\r\n'],
    ['a user', 'Host: user@a.example\r\n'],
    ['a path', 'Host: a.example/path\r\n'],
    ['a space', 'Host: a example\r\n'],
    ['a port that is no number', 'Host: a.example:http\r\n'],
    ['two ports', 'Host: a.example:80:80\r\n'],
    ['an open bracket', 'Host: [::1\r\n'],
  ])('%s: 400 in the envelope', async (_what, hosts) => {
    const text = await heard(get(hosts));
    expect(text).toStartWith('HTTP/1.1 400 ');
    expect(text).toContain('"code":"BAD_REQUEST"');
    expect(text.toLowerCase()).toContain('x-request-id: req_');
  });

  test.each([
    'a.example',
    'a.example:3000',
    '127.0.0.1:1',
    '[::1]:3000',
    'under_score',
    'xn--bcher-kva.example',
    'A.',
  ])('%s is taken', async (host) =>
    expect(await heard(get(`Host: ${host}\r\n`))).toStartWith('HTTP/1.1 200 '),
  );
});

test('of requests that come in one piece the first changes nothing, since its answer would not arrive', async () => {
  const post = (name: string) => {
    const body = JSON.stringify({ name });
    return `POST /v1/things HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  };
  await heard(post('one') + post('two'));
  await heard(post('three') + get('Host: x\r\n'));
  const alone = post('four').replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n');
  expect(await heard(alone)).toMatch(/^HTTP\/1\.1 20[01] /);
  expect(service.done).toHaveLength(1);
});

test('a path with two slashes is answered with what to change', async () => {
  const at = (path: string) =>
    heard(
      `GET ${path} HTTP/1.1\r\nHost: a.example\r\nAuthorization: Bearer ${key}\r\nConnection: close\r\n\r\n`,
    );
  for (const path of ['/v1//things', '//v1/things']) {
    const text = await at(path);
    expect(text).toStartWith('HTTP/1.1 404 ');
    expect(text).toContain('two slashes in a row');
  }
  expect(await at('/v1/nothing?next=http://a.example//b')).not.toContain('two slashes');
});
