import { afterAll, beforeEach, describe, expect, test } from 'bun:test';
import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { createResolver } from '../../../src/mail/dns/resolver.ts';
import { DirectTransport } from '../../../src/mail/transport/direct/direct.ts';
import { mxGroupLimits } from '../../../src/mail/transport/direct/mx-group.ts';
import { freePort } from '../../../src/ops/torture/free-port.ts';
import { aMessage } from '../../unit/transport/a-message.ts';
import { AUTHORITY, CERTIFICATE, PRIVATE_KEY } from './certificates.ts';
import { a, mx, startNameServer, txt } from './name-server.ts';
import { startSink } from './smtp-sink.ts';

const PAIR = { key: PRIVATE_KEY, cert: CERTIFICATE };
const port = await freePort();
const dns = await startNameServer();
/** Speaks TLS with a certificate for *.receiver.test. */
const trusted = await startSink(PAIR, { host: '127.0.0.1', port });
/** Speaks no TLS at all. */
const plain = await startSink({}, { host: '127.0.0.2', port });

/** The answer of the policy host. */
let answer = { status: 200, type: 'text/plain', body: '', location: '' };
let fetches = 0;
const policies = createServer(PAIR, (request, response) => {
  fetches += 1;
  const { status, type, body, location } = answer;
  if (request.url !== '/.well-known/mta-sts.txt') return response.writeHead(404).end();
  return response.writeHead(status, { 'content-type': type, ...(location ? { location } : {}) }).end(body);
}).listen(0, '127.0.0.1');
await once(policies, 'listening');
const policyPort = (policies.address() as AddressInfo).port;

afterAll(async () => {
  await Promise.all([dns, trusted, plain].map((server) => server[Symbol.asyncDispose]()));
  policies.close();
});

const policy = (mode: string, ...hosts: string[]) =>
  `version: STSv1\nmode: ${mode}\n${hosts.map((host) => `mx: ${host}\n`).join('')}max_age: 3600\n`;

const ENFORCED = policy('enforce', 'mx1.receiver.test');

let now = 0;
let direct: DirectTransport;

beforeEach(() => {
  now = 0;
  fetches = 0;
  trusted.received.length = 0;
  plain.received.length = 0;
  answer = { status: 200, type: 'text/plain', body: ENFORCED, location: '' };
  dns.zone = {
    'receiver.test MX': [mx('mx1.receiver.test', 10)],
    'mx1.receiver.test A': [a('127.0.0.1')],
    '_mta-sts.receiver.test TXT': [txt('v=STSv1; id=1;')],
    'mta-sts.receiver.test A': [a('127.0.0.1')],
  };
  direct = transport();
});

const transport = (ca: string | null = AUTHORITY) =>
  new DirectTransport({
    resolver: createResolver([dns.server], { timeoutMs: 60_000, rounds: 1 }),
    monotonic: () => now,
    random: () => 0,
    ehloName: 'posthorn.test',
    port,
    limits: mxGroupLimits(10, 3_000),
    ca,
    mayConnect: () => true,
    connectMs: 30_000,
    policyPort,
  });

const send = async () => {
  const [outcome] = await direct.send(aMessage({ recipients: ['bob@receiver.test'] }), {
    signal: new AbortController().signal,
    deadlineMs: 60_000,
  });
  return [outcome?.outcome, outcome?.subType].filter(Boolean).join(' ');
};
const secure = () => trusted.received.map((mail) => mail.secure);

describe('an enforced MTA-STS policy', () => {
  test('mail goes over TLS to a host that the policy names and the certificate proves', async () => {
    expect(await send()).toBe('accepted');
    expect(secure()).toEqual([true]);
  });

  test('no mail goes to a host that the policy does not name', async () => {
    dns.zone['receiver.test MX'] = [mx('evil.test', 1)];
    dns.zone['evil.test A'] = [a('127.0.0.1')];
    expect(await send()).toBe('deferred TlsFailed');
    expect(trusted.received).toEqual([]);
  });

  test('such a host is passed over for one that it names', async () => {
    dns.zone['receiver.test MX'] = [mx('evil.test', 1), mx('mx1.receiver.test', 10)];
    dns.zone['evil.test A'] = [a('127.0.0.2')];
    expect(await send()).toBe('accepted');
    expect(plain.received).toEqual([]);
  });

  test('no mail goes where TLS is not offered', async () => {
    dns.zone['mx1.receiver.test A'] = [a('127.0.0.2')];
    expect(await send()).toBe('deferred TlsFailed');
    expect(plain.received).toEqual([]);
  });

  test('no mail goes where the certificate is for another name', async () => {
    answer.body = policy('enforce', 'mx.other.test');
    dns.zone['receiver.test MX'] = [mx('mx.other.test', 1)];
    dns.zone['mx.other.test A'] = [a('127.0.0.1')];
    expect(await send()).toBe('deferred TlsFailed');
    expect(trusted.received).toEqual([]);
  });
});

test('an MTA-STS policy in testing or none mode holds no mail back', async () => {
  for (const mode of ['testing', 'none']) {
    direct = transport();
    answer.body = policy(mode, 'elsewhere.test');
    dns.zone['mx1.receiver.test A'] = [a('127.0.0.2')];
    expect(await send()).toBe('accepted');
  }
});

describe('an invalid MTA-STS policy holds no mail back', () => {
  const bad: Record<string, () => unknown> = {
    'a file that is missing': () => Object.assign(answer, { status: 404 }),
    'a redirect': () => Object.assign(answer, { status: 302, location: 'https://localhost/' }),
    'another type': () => Object.assign(answer, { type: 'text/html' }),
    'a file without end': () => Object.assign(answer, { body: ENFORCED + '#'.repeat(70_000) }),
    'a host that cannot be reached': () =>
      Object.assign(dns.zone, { 'mta-sts.receiver.test A': [a('127.0.0.9')] }),
    'a certificate that is not trusted': () => {
      direct = transport(null);
    },
    'no record': () => Object.assign(dns.zone, { '_mta-sts.receiver.test TXT': 'nxdomain' }),
  };
  for (const [name, spoil] of Object.entries(bad))
    test(name, async () => {
      dns.zone['mx1.receiver.test A'] = [a('127.0.0.2')];
      spoil();
      expect(await send()).toBe('accepted');
    });
});

describe('the cache of MTA-STS policies', () => {
  const later = (ms: number) => {
    now += ms;
  };

  test('and fetched again only when its id changes', async () => {
    await send();
    later(60_000);
    await send();
    expect(fetches).toBe(1);
    dns.zone['_mta-sts.receiver.test TXT'] = [txt('v=STSv1; id=2;')];
    later(60_000);
    await send();
    expect(fetches).toBe(2);
  });

  test('when record and file disappear, until it is too old', async () => {
    await send();
    dns.zone['_mta-sts.receiver.test TXT'] = 'servfail';
    dns.zone['mx1.receiver.test A'] = [a('127.0.0.2')];
    answer.status = 404;
    later(60_000);
    expect(await send()).toBe('deferred TlsFailed');
    later(3_600_000);
    expect(await send()).toBe('accepted');
  });

  test('when a new one cannot be fetched', async () => {
    await send();
    dns.zone['_mta-sts.receiver.test TXT'] = [txt('v=STSv1; id=2;')];
    dns.zone['mx1.receiver.test A'] = [a('127.0.0.2')];
    answer.status = 500;
    later(60_000);
    expect(await send()).toBe('deferred TlsFailed');
  });
});
