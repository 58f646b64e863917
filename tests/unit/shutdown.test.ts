import { describe, expect, test } from 'bun:test';
import { once } from 'node:events';
import { connect } from 'node:net';
import { closeServer } from '../../src/platform/async/close-server.ts';
import { isDoneWithin } from '../../src/platform/async/deadline.ts';
import { livedMs } from '../support/own-time.ts';

describe('closing a server', () => {
  test('waits for the request in flight and refuses new connections', async () => {
    const { promise: mayAnswer, resolve: answer } = Promise.withResolvers<void>();
    const { promise: arrived, resolve: arrive } = Promise.withResolvers<void>();
    const server = Bun.serve({
      port: 0,
      async fetch() {
        arrive();
        await mayAnswer;
        return new Response('finished');
      },
    });
    const inFlight = fetch(server.url);
    await arrived;
    const closed = closeServer(server);
    await expect(fetch(server.url)).rejects.toThrow();
    answer();
    expect(await (await inFlight).text()).toBe('finished');
    await closed;
  });

  test('does not wait for a client that has sent half a request', async () => {
    const server = Bun.serve({ port: 0, idleTimeout: 60, fetch: () => new Response() });
    const socket = connect(server.port ?? 0, '127.0.0.1');
    await once(socket, 'connect');
    socket.write('GET / HTTP/1.1\r\nho');
    await (await fetch(server.url)).text();
    expect(await livedMs(() => closeServer(server))).toBeLessThan(2_000);
    socket.destroy();
  });
});

describe('within', () => {
  test('tells work that is done in time from work that is not', async () => {
    expect(await isDoneWithin(5_000, Promise.resolve())).toBe(true);
    expect(await isDoneWithin(1, new Promise(() => {}))).toBe(false);
  });

  test('passes a failure on', async () => {
    await expect(isDoneWithin(5_000, Promise.reject(new Error('broken')))).rejects.toThrow('broken');
  });
});
