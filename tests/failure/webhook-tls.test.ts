import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { systemClock } from '../../src/platform/time/clock.ts';
import type { PostResult } from '../../src/sending/webhooks/http/post-result.ts';
import { createPoster } from '../../src/sending/webhooks/http/poster.ts';
import { AUTHORITY, CERTIFICATE, PRIVATE_KEY } from '../integration/transport/certificates.ts';
import { receiveRaw } from '../support/raw-receiver.ts';

/** The names that receivers were asked for by SNI, in order. */
const names: unknown[] = [];
const connections = new Set<unknown>();
const server = createServer({ cert: CERTIFICATE, key: PRIVATE_KEY }, (request, response) => {
  names.push((request.socket as TLSSocket).servername);
  connections.add(request.socket);
  request.resume();
  request.on('end', () => response.end('ok'));
});

beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const options = {
  guard: (address: string) => address === '127.0.0.1',
  resolve: async () => ['127.0.0.1'],
  clock: systemClock,
  limitMs: 3_600_000,
};
const trusting = createPoster({ ...options, ca: AUTHORITY });

const postTo = (
  host: string,
  poster = trusting,
  port = (server.address() as AddressInfo).port,
): Promise<PostResult> =>
  poster.post({ webhookId: 'wh_1', url: `https://${host}:${port}/`, secret: 'whsec_x', body: '{}' });

const distrusted = { httpStatus: 0, error: 'untrusted_tls' } as const;

describe('webhooks over TLS', () => {
  test('check the certificate against the name in the URL, not the address', async () => {
    expect(await postTo('receiver.test')).toMatchObject({ httpStatus: 200, responseBody: 'ok', error: null });
    expect(names.at(-1)).toBe('receiver.test');
    expect(await postTo('hooks.receiver.test')).toMatchObject({ httpStatus: 200 });
    expect(names.at(-1)).toBe('hooks.receiver.test');
  });

  test('refuse a certificate for other names and send nothing', async () => {
    const before = names.length;
    expect(await postTo('elsewhere.test')).toMatchObject(distrusted);
    expect(await postTo('127.0.0.1')).toMatchObject(distrusted);
    expect(names).toHaveLength(before);
  });

  test('refuse an unknown authority, even where the environment says otherwise', async () => {
    const before = names.length;
    const environment = process.env;
    const given = environment.NODE_TLS_REJECT_UNAUTHORIZED;
    environment.NODE_TLS_REJECT_UNAUTHORIZED = '0';
    try {
      expect(await postTo('receiver.test', createPoster(options))).toMatchObject(distrusted);
    } finally {
      if (given === undefined) delete environment.NODE_TLS_REJECT_UNAUTHORIZED;
      else environment.NODE_TLS_REJECT_UNAUTHORIZED = given;
    }
    expect(names).toHaveLength(before);
  });

  test('reuse a connection', async () => {
    await postTo('receiver.test');
    const before = connections.size;
    await postTo('receiver.test');
    await postTo('receiver.test');
    expect(connections.size).toBe(before);
  });

  test('refuse a receiver without TLS and time out on a silent one', async () => {
    await using plain = await receiveRaw((socket) => socket.write('HTTP/1.1 400 Bad Request\r\n\r\n'));
    expect(await postTo('receiver.test', trusting, plain.port)).toMatchObject(distrusted);
    await using silent = await receiveRaw(() => {});
    const impatient = createPoster({ ...options, ca: AUTHORITY, limitMs: 50 });
    expect(await postTo('receiver.test', impatient, silent.port)).toMatchObject({
      httpStatus: 0,
      error: 'timeout',
    });
  });
});
