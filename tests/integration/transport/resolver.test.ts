import { afterAll, beforeEach, describe, expect, test } from 'bun:test';
import { AnswerMemory } from '../../../src/mail/dns/answer-memory.ts';
import { createResolver, systemNameServers } from '../../../src/mail/dns/resolver.ts';
import { freePort } from '../../../src/ops/torture/free-port.ts';
import { a, aaaa, cname, mx, nothing, ptr, startNameServer, txt } from './name-server.ts';

const dns = await startNameServer();
const broken = await startNameServer();
afterAll(() => Promise.all([dns, broken].map((server) => server[Symbol.asyncDispose]())));
beforeEach(() => {
  for (const server of [dns, broken]) {
    server.zone = {};
    server.asked.length = 0;
  }
});

/** A busy machine may take long to answer what is answered; only what is never answered is given up soon. */
const resolver = createResolver([dns.server], { timeoutMs: 60_000, rounds: 2 });
const brief = createResolver([dns.server], { timeoutMs: 150, rounds: 2 });

describe('the resolver finds', () => {
  test('as it is, in any case of letters', async () => {
    dns.zone = {
      'receiver.test mx': [],
      'receiver.test MX': [mx('mx2.receiver.test', 20), mx('mx1.receiver.test', 10)],
      'mx1.receiver.test A': [a('192.0.2.1'), a('192.0.2.2')],
      'mx1.receiver.test AAAA': [aaaa('2001:db8::1')],
      'www.receiver.test CNAME': [cname('web.test')],
    };
    expect(await resolver.mx('Receiver.TEST')).toEqual({
      status: 'found',
      records: [
        { host: 'mx2.receiver.test', preference: 20 },
        { host: 'mx1.receiver.test', preference: 10 },
      ],
    });
    expect(await resolver.ipv4('mx1.receiver.test')).toEqual({
      status: 'found',
      records: ['192.0.2.1', '192.0.2.2'],
    });
    expect(await resolver.ipv6('mx1.receiver.test')).toEqual({ status: 'found', records: ['2001:db8::1'] });
    expect(await resolver.cname('www.receiver.test')).toEqual({ status: 'found', records: ['web.test'] });
  });

  test('a TXT record of several strings is one text, two records are two', async () => {
    dns.zone = { 'k.test TXT': [txt('v=DKIM1; k=rsa; p=', 'a'.repeat(200), 'b'.repeat(190)), txt('other')] };
    expect(await resolver.txt('k.test')).toEqual({
      status: 'found',
      records: [`v=DKIM1; k=rsa; p=${'a'.repeat(200)}${'b'.repeat(190)}`, 'other'],
    });
  });

  test('behind aliases', async () => {
    dns.zone = {
      'alias.test TXT': [
        cname('middle.test'),
        { name: 'middle.test', ...cname('end.test') },
        { name: 'end.test', ...txt('here') },
      ],
    };
    expect(await resolver.txt('alias.test')).toEqual({ status: 'found', records: ['here'] });
  });

  test('over TCP when it does not fit into a datagram', async () => {
    const records = Array.from({ length: 30 }, (_, n) => txt(`${n}`.repeat(60)));
    dns.zone = { 'large.test TXT': records };
    expect(await resolver.txt('large.test')).toMatchObject({ status: 'found', records: { length: 30 } });
    expect(dns.asked).toEqual(['UDP large.test TXT', 'TCP large.test TXT']);
  });

  test('a null MX is an empty host', async () => {
    dns.zone = { 'null.test MX': [mx('', 0)] };
    expect(await resolver.mx('null.test')).toEqual({
      status: 'found',
      records: [{ host: '', preference: 0 }],
    });
  });

  test('the name of an address', async () => {
    dns.zone = {
      '1.2.0.192.in-addr.arpa PTR': [ptr('mail.test')],
      [`${'1.0.0.0'}.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa PTR`]: [
        ptr('mail6.test'),
      ],
    };
    expect(await resolver.reverse('192.0.2.1')).toEqual({ status: 'found', records: ['mail.test'] });
    expect(await resolver.reverse('2001:db8::1')).toEqual({ status: 'found', records: ['mail6.test'] });
  });

  test('at once after it was added: nothing is remembered', async () => {
    expect(await resolver.txt('new.test')).toEqual({ status: 'nxdomain' });
    dns.zone = { 'new.test TXT': [txt('now')] };
    expect(await resolver.txt('new.test')).toEqual({ status: 'found', records: ['now'] });
  });
});

test('a resolver with a memory asks once within the TTL, and follows an alias to the least of them', async () => {
  const clock = { now: 0 };
  const memory = new AnswerMemory(undefined, () => clock.now);
  // One for each message, as the thread that checks senders makes them.
  const ask = () =>
    createResolver([dns.server], { timeoutMs: 60_000, rounds: 2 }, memory).txt('www.kept.test');
  dns.zone = {
    'www.kept.test TXT': [
      { ...cname('kept.test'), ttl: 5 },
      { ...txt('here'), name: 'kept.test', ttl: 300 },
    ],
  };
  for (let n = 0; n < 3; n++) expect(await ask()).toEqual({ status: 'found', records: ['here'] });
  expect(dns.asked).toEqual(['UDP www.kept.test TXT']);
  clock.now = 5_000;
  await ask();
  expect(dns.asked).toHaveLength(2);
});

test.each([
  ['nxdomain', nothing(300, 5)],
  ['nxdomain', nothing(5, 300)],
  ['nodata', nothing(300, 5, false)],
] as const)('a resolver with a memory asks once for what is not there: %s', async (status, said) => {
  const clock = { now: 0 };
  const memory = new AnswerMemory(undefined, () => clock.now);
  const asking = createResolver([dns.server], { timeoutMs: 60_000, rounds: 2 }, memory);
  dns.zone = { '_dmarc.test TXT': said, 'unsaid.test TXT': 'nxdomain', 'refused.test TXT': 'refused' };
  for (let n = 0; n < 3; n++) expect(await asking.txt('_dmarc.test')).toEqual({ status });
  expect(dns.asked).toEqual(['UDP _dmarc.test TXT']);
  clock.now = 5_000;
  await asking.txt('_dmarc.test');
  expect(dns.asked).toHaveLength(2);
  // Without the record of the zone, or after a failure, it is asked for each time.
  for (let n = 0; n < 2; n++) await asking.txt('unsaid.test');
  expect(dns.asked).toHaveLength(4);
  for (let n = 0; n < 2; n++) expect((await asking.txt('refused.test')).status).toBe('failed');
  expect(dns.asked).toHaveLength(8);
});

describe('the resolver tells apart', () => {
  test('no such name', async () => expect(await resolver.mx('missing.test')).toEqual({ status: 'nxdomain' }));

  test('a name without such a record', async () => {
    dns.zone = { 'only.test A': [a('192.0.2.1')] };
    expect(await resolver.mx('only.test')).toEqual({ status: 'nodata' });
  });

  test('records of another name or type in the answer do not count', async () => {
    dns.zone = { 'stray.test TXT': [{ name: 'evil.test', ...txt('x') }, a('192.0.2.1')] };
    expect(await resolver.txt('stray.test')).toEqual({ status: 'nodata' });
  });

  test('aliases in a circle', async () => {
    dns.zone = { 'x.test A': [cname('y.test'), { name: 'y.test', ...cname('x.test') }] };
    expect(await resolver.ipv4('x.test')).toEqual({ status: 'nodata' });
  });

  for (const [say, reason] of [
    ['servfail', 'SERVFAIL from 127.0.0.1'],
    ['refused', 'REFUSED from 127.0.0.1'],
    ['silence', '127.0.0.1: no answer in time'],
    ['garbage', '127.0.0.1: no answer in time'],
    ['another question', '127.0.0.1: no answer in time'],
  ] as const)
    test(`${say} is a failure, after it was tried twice`, async () => {
      dns.zone = { 'bad.test A': say };
      const asked = reason.startsWith('127') ? brief : resolver;
      expect(await asked.ipv4('bad.test')).toEqual({ status: 'failed', reason });
      expect(dns.asked.length).toBe(2);
    });
});

describe('the resolver with several servers', () => {
  const both = createResolver([broken.server, dns.server], { timeoutMs: 60_000, rounds: 1 });
  /** The second one has to answer within this time. */
  const impatient = createResolver([broken.server, dns.server], { timeoutMs: 1_000, rounds: 1 });

  for (const say of ['servfail', 'refused', 'silence'] as const)
    test(`asks the next after ${say}`, async () => {
      broken.zone = { 'receiver.test A': say };
      dns.zone = { 'receiver.test A': [a('192.0.2.1')] };
      const asked = say === 'silence' ? impatient : both;
      expect(await asked.ipv4('receiver.test')).toEqual({ status: 'found', records: ['192.0.2.1'] });
    });

  test('passes over one that does not run without waiting', async () => {
    dns.zone = { 'receiver.test A': [a('192.0.2.1')] };
    const gone = { address: '127.0.0.1', port: await freePort() };
    const answer = await createResolver([gone, dns.server], { timeoutMs: 3_600_000, rounds: 1 }).ipv4(
      'receiver.test',
    );
    expect(answer).toEqual({ status: 'found', records: ['192.0.2.1'] });
  });

  test('passes over one that this machine cannot send to, as every one is without a network', async () => {
    dns.zone = { 'a.test A': [a('192.0.2.1')] };
    // The system refuses it to a socket that may not broadcast, as it refuses an address without a route.
    const servers = [{ address: '255.255.255.255', port: 53 }, dns.server];
    expect(await createResolver(servers, { timeoutMs: 60_000, rounds: 1 }).ipv4('a.test')).toEqual({
      status: 'found',
      records: ['192.0.2.1'],
    });
  });

  test('asks no other after a certain answer', async () => {
    expect(await both.ipv4('missing.test')).toEqual({ status: 'nxdomain' });
    expect(dns.asked).toEqual([]);
  });
});

test('the resolver answers a thousand simultaneous questions', async () => {
  dns.zone = { 'receiver.test A': [a('192.0.2.1')] };
  // A datagram that the machine drops under so many is asked for again.
  const asking = createResolver([dns.server], { timeoutMs: 5_000, rounds: 10 });
  const answers = await Promise.all(Array.from({ length: 1_000 }, () => asking.ipv4('receiver.test')));
  expect(answers.filter(({ status }) => status !== 'found')).toEqual([]);
});

test('the servers of the machine are addresses with ports', () => {
  for (const server of systemNameServers())
    expect(server).toEqual({ address: expect.stringMatching(/^[\da-f.:]+$/i), port: expect.any(Number) });
});
