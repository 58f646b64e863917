import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { Resolver } from 'node:dns/promises';
import dns2 from 'dns2';
import { freePort } from '../../src/ops/torture/free-port.ts';
import { systemClock } from '../../src/platform/time/clock.ts';
import { problemOfTarget } from '../../src/sending/webhooks/endpoints/target.ts';
import { createAddressGuard } from '../../src/sending/webhooks/http/address-guard.ts';
import { resolveBySystem } from '../../src/sending/webhooks/http/lookup.ts';
import { createPoster } from '../../src/sending/webhooks/http/poster.ts';
import { answerOf, receiveRaw } from '../support/raw-receiver.ts';

const { Packet } = dns2;

/** The answer of the name server; the attacker changes it. */
let addresses: readonly string[] = [];
const nameServer = dns2.createServer({
  udp: true,
  handle: (request, send) => {
    const response = Packet.createResponseFromRequest(request);
    const [question] = request.questions;
    if (question?.type === Packet.TYPE.A)
      for (const address of addresses)
        response.answers.push(Packet.createResourceFromQuestion(question, { ttl: 0, address }));
    void send(response);
  },
});
let server = '';

beforeAll(async () => {
  const port = await freePort();
  await nameServer.listen({ udp: { port, address: '127.0.0.1' } });
  server = `127.0.0.1:${port}`;
});
afterAll(() => nameServer.close());

/** A resolver each time: one that is kept answers from what it heard before. */
function resolve(name: string): Promise<readonly string[]> {
  const resolver = new Resolver({ timeout: 60_000, tries: 1 });
  resolver.setServers([server]);
  return resolver.resolve4(name);
}

const guard = createAddressGuard({ allowPrivate: false, allowCidrs: [] });

describe('a webhook host name that was public at registration', () => {
  test('and is loopback when a delivery is due reaches nothing', async () => {
    await using receiver = await receiveRaw((socket) => socket.write(answerOf('inside')));
    const url = `http://rebind.test:${receiver.port}/`;
    const poster = createPoster({ guard, resolve, clock: systemClock, limitMs: 3_600_000 });

    addresses = ['93.184.216.34'];
    expect(await problemOfTarget(url, { guard, resolve, privateNames: false })).toBeNull();

    for (const turned of [['127.0.0.1'], ['93.184.216.34', '127.0.0.1'], ['169.254.169.254']]) {
      addresses = turned;
      expect(await poster.post({ webhookId: 'wh_1', url, secret: 'whsec_x', body: '{}' })).toMatchObject({
        httpStatus: 0,
        error: 'forbidden_address',
      });
    }
    expect(receiver.connections).toHaveLength(0);
    expect(await problemOfTarget(url, { guard, resolve, privateNames: false })).toMatch(/public address/);
  });

  test('is reached where the operator opened loopback, which shows that the look-up above was real', async () => {
    await using receiver = await receiveRaw((socket) => socket.write(answerOf('inside')));
    const opened = createAddressGuard({ allowPrivate: false, allowCidrs: ['127.0.0.0/8'] });
    const poster = createPoster({ guard: opened, resolve, clock: systemClock, limitMs: 3_600_000 });
    addresses = ['127.0.0.1'];
    const url = `http://rebind.test:${receiver.port}/`;
    const answer = await poster.post({ webhookId: 'wh_1', url, secret: 'whsec_x', body: '{}' });
    expect(answer).toMatchObject({ httpStatus: 200, responseBody: 'inside' });
  });
});

describe("the system's resolver", () => {
  test('keeps names under .localhost on loopback (RFC 6761), which no public policy allows', async () => {
    for (const name of ['localhost', 'tenant.localhost']) {
      const found = await resolveBySystem(name);
      expect(found.length).toBeGreaterThan(0);
      expect(found.some(guard)).toBe(false);
    }
  });
});
