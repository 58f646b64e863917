import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { freePort } from '../../src/ops/torture/free-port.ts';
import { eventually } from '../support/eventually.ts';
import { type LiveService, relayTo, startLiveService } from '../support/live-service.ts';
import { aMail, handIn, receiving } from './received-door.ts';
import { type Sink, startSink } from './transport/smtp-sink.ts';

let sink: Sink;
let service: LiveService;
let port: number;

beforeAll(async () => {
  sink = await startSink();
  port = await freePort();
  service = await startLiveService({
    transport: relayTo(sink.port),
    environment: { INBOUND_SMTP_PORT: String(port), EHLO_NAME: 'mx.service.example' },
  });
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await sink[Symbol.asyncDispose]();
});

const REFUSED = '550 5.7.1 This address takes reports alone';
const NAMES = ['postmaster', 'abuse', 'fbl', 'complaints', 'dmarc', 'tlsrpt'];

/** The replies to RCPT and to the message, as far as they tell the end. */
async function replies(to: string, raw = aMail(), from = 'ada@customer.example') {
  const [, recipient = '', end = ''] = await handIn(port, from, [to], raw);
  return [recipient.slice(0, 9), end.slice(0, REFUSED.length)];
}

describe('the mail of a person to an address for reports', () => {
  for (const name of NAMES) {
    test(`${name}@ is refused after DATA, at a name and at a return path of a proven domain`, async () => {
      for (const host of ['sender.example', 'send.sender.example'])
        expect(await replies(`${name}@${host}`)).toEqual(['250 2.1.5', REFUSED]);
    });

    test(`${name}@ at a domain that is not known here is refused at RCPT`, async () => {
      const [recipient] = await replies(`${name}@unknown.example`);
      expect(recipient).toBe('550 5.1.1');
    });
  }

  test('at the name of the service is refused after DATA', async () => {
    expect(await replies('postmaster@MX.service.example')).toEqual(['250 2.1.5', REFUSED]);
  });

  test('is stored where a route takes the address', async () => {
    const { exactly, receivedBy } = receiving(service);
    for (const name of NAMES) {
      const route = await exactly(name);
      expect((await replies(`${name}@sender.example`))[1]).toStartWith('250');
      expect([name, (await receivedBy(route.id)).length]).toEqual([name, 1]);
      await service.live.delete(`/v1/inbound-routes/${route.id}`);
    }
  });

  test('is not lost beside a recipient whose mail is stored: it needs a transaction apart, in either order', async () => {
    const { exactly, receivedBy } = receiving(service);
    const route = await exactly('beside');
    const to = ['beside@sender.example', 'fbl@sender.example'];
    for (const order of [to, to.toReversed()]) {
      const lines = await handIn(port, 'ada@customer.example', order, aMail());
      expect(lines[1]).toStartWith('250 2.1.5');
      expect(lines[2]).toStartWith('452 4.5.3');
    }
    expect(await receivedBy(route.id)).toHaveLength(1);
  });
});

describe('the return path of an email', () => {
  const returnPath = async (): Promise<string> => {
    const id = await service.send({ to: ['bob@example.com'] });
    await service.until(id, ({ status }) => status === 'sent');
    return sink.received.find(({ raw }) => raw.includes(id))?.from ?? '';
  };

  test('refuses the mail of a person after DATA', async () => {
    expect(await replies(await returnPath())).toEqual(['250 2.1.5', REFUSED]);
  });

  test('takes what programs send: with a null sender, or marked as automatic', async () => {
    const path = await returnPath();
    expect((await replies(path, aMail(), ''))[1]).toStartWith('250');
    expect((await replies(path, aMail({ 'Auto-Submitted': 'auto-replied' })))[1]).toStartWith('250');
  });
});

describe('the return path of a forwarded message', () => {
  test('refuses the mail of a person after DATA, and takes that of a null sender', async () => {
    const { exactly } = receiving(service);
    await exactly('onward', { action: { type: 'forward', to: ['team@sender.example'] } });
    const before = sink.received.length;
    await handIn(port, 'ada@customer.example', ['onward@sender.example'], aMail());
    const copy = await eventually('the copy', async () => sink.received[before]);
    expect(copy.from).toStartWith('SRS0=');
    expect(await replies(copy.from)).toEqual(['250 2.1.5', REFUSED]);
    expect((await replies(copy.from, aMail(), ''))[1]).toStartWith('250');
  });
});
