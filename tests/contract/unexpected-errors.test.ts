import { afterAll, describe, expect, test } from 'bun:test';
import { connect } from 'node:net';
import type { ResponseMetrics } from '../../src/http/request/pipeline.ts';
import { UnavailableError } from '../../src/platform/errors/unavailable.ts';
import { ask } from './ask.ts';
import { keyOf, startSmallService } from './small-service.ts';

const key = keyOf('live', 'all');
const service = startSmallService({ timeouts: { workMs: 50, bodyMs: 1_000 } });
afterAll(() => service[Symbol.dispose]());
const failing = (how: string) => ask(service.url, { path: `/v1/failing/${how}`, key });

describe('an unexpected error', () => {
  test.each(['exception', 'rejection', 'text', 'circular', 'bigint'])(
    '%s: 500 without a cause',
    async (how) => {
      service.logged.length = 0;
      const reply = await failing(how);
      expect([reply.status, reply.body.error.code]).toEqual([500, 'INTERNAL_ERROR']);
      expect(reply.body.error.message).toBe('Something went wrong on our side.');
      const [line] = service.logged;
      expect(line).toMatchObject({
        message: 'a request failed unexpectedly',
        fields: { requestId: reply.headers.get('x-request-id'), route: '/v1/failing/:how' },
      });
    },
  );

  test('is logged with cause and stack, without quoted data', async () => {
    service.logged.length = 0;
    await failing('exception');
    const text = JSON.stringify(service.logged);
    expect(text).toContain('TypeError');
    expect(text).toContain('small-service.ts');
    expect(text).not.toContain('hunter2');
    expect(text).not.toContain('ada@example.com');
  });
});

test('an error in the pipeline itself is answered in the error envelope, without its cause', async () => {
  using broken = startSmallService({
    observe: () => {
      throw new Error('hunter2');
    },
  });
  const reply = await ask(broken.url, { path: '/page' });
  expect([reply.status, reply.body.error.code]).toEqual([500, 'INTERNAL_ERROR']);
  expect(reply.text).not.toContain('hunter2');
});

test('a fault before the pipeline is answered in the envelope, and logged without a stack on stderr', async () => {
  using broken = startSmallService({
    sockets: {
      admit: () => {
        throw new TypeError('"hunter2" cannot be parsed as a URL.');
      },
      refuseHandshake: () => new Response(),
      close() {},
    },
  });
  const reply = await ask(broken.url, { path: '/page', headers: { upgrade: 'websocket' } });
  expect([reply.status, reply.body.error.code]).toEqual([500, 'INTERNAL_ERROR']);
  expect(reply.text).not.toContain('hunter2');
  expect(broken.logged[0]).toMatchObject({ fields: { requestId: reply.headers.get('x-request-id') } });
  expect(JSON.stringify(broken.logged)).not.toContain('hunter2');
});

describe('work whose caller has hung up is aborted', () => {
  test('when the deadline has passed', async () => {
    service.done.length = 0;
    expect((await ask(service.url, { path: '/v1/unheard', key })).status).toBe(503);
    expect(service.done).toEqual(['unheard']);
  });

  test('when the client has hung up', async () => {
    const { promise: answered, resolve: observe } = Promise.withResolvers<ResponseMetrics>();
    using patient = startSmallService({ observe });
    const socket = connect(patient.port, '127.0.0.1');
    socket.end(`GET /v1/unheard HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n\r\n`);
    expect((await answered).status).toBe(200);
    expect(patient.done).toEqual(['unheard']);
  });
});

describe('an unavailable dependency', () => {
  test('is answered with 503 and Retry-After', async () => {
    service.logged.length = 0;
    const reply = await failing('unavailable');
    expect([reply.status, reply.body.error.code]).toEqual([503, 'SERVICE_UNAVAILABLE']);
    expect(reply.headers.get('retry-after')).toBe('7');
    expect(reply.text).not.toContain('pool');
    expect(service.logged[0]).toMatchObject({ message: 'a dependency did not answer' });
  });

  test('is answered with 503 while the API key is looked up', async () => {
    using broken = startSmallService({ authenticate: () => Promise.reject(new UnavailableError('gone')) });
    expect((await ask(broken.url, { path: '/v1/things', key })).status).toBe(503);
    expect((await ask(broken.url, { path: '/page' })).status).toBe(200);
  });

  test('is answered at the deadline when a handler never ends', async () => {
    const reply = await failing('never');
    expect(reply.status).toBe(503);
    expect(reply.headers.get('retry-after')).toBe('1');
  });

  test('is answered at the deadline when a key lookup never ends', async () => {
    using stuck = startSmallService({
      authenticate: () => new Promise(() => {}),
      timeouts: { workMs: 50, bodyMs: 1_000 },
    });
    expect((await ask(stuck.url, { path: '/v1/things', key })).status).toBe(503);
  });
});
