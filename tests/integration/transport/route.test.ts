import { afterAll, expect, test } from 'bun:test';
import { createResolver } from '../../../src/mail/dns/resolver.ts';
import { routeOf } from '../../../src/mail/transport/direct/route.ts';
import { a, aaaa, mx, startNameServer, type Zone } from './name-server.ts';

const dns = await startNameServer();
afterAll(() => dns[Symbol.asyncDispose]());
/** A busy machine may take long to answer what is answered; only what is never answered is given up soon. */
const patient = createResolver([dns.server], { timeoutMs: 60_000, rounds: 1 });
const brief = createResolver([dns.server], { timeoutMs: 100, rounds: 1 });

const route = (zone: Zone, random = () => 0.5) => {
  dns.zone = zone;
  const resolver = Object.values(zone).includes('silence') ? brief : patient;
  return routeOf('receiver.test', resolver, random);
};

test('MX hosts are tried by preference, equal ones in random order', async () => {
  const zone = {
    'receiver.test MX': [mx('c.test', 30), mx('a.test', 10), mx('b1.test', 20), mx('b2.test', 20)],
  };
  const lots = (values: number[]) => () => values.shift() ?? 0;
  expect(await route(zone, lots([0, 0, 0.1, 0.9]))).toEqual({
    status: 'found',
    hosts: ['a.test', 'b1.test', 'b2.test', 'c.test'],
  });
  expect(await route(zone, lots([0, 0, 0.9, 0.1]))).toEqual({
    status: 'found',
    hosts: ['a.test', 'b2.test', 'b1.test', 'c.test'],
  });
});

test('a null MX refuses (RFC 7505)', async () => {
  expect(await route({ 'receiver.test MX': [mx('', 0)], 'receiver.test A': [a('192.0.2.1')] })).toMatchObject(
    {
      status: 'refused',
      enhancedCode: '5.1.10',
    },
  );
});

test('a null MX beside real ones is passed over', async () => {
  expect(await route({ 'receiver.test MX': [mx('', 0), mx('a.test', 10)] })).toEqual({
    status: 'found',
    hosts: ['a.test'],
  });
});

test('without MX the domain itself takes its mail, by IPv4 or IPv6 (RFC 5321 5.1)', async () => {
  const itself = { status: 'found', hosts: ['receiver.test'] } as const;
  expect(await route({ 'receiver.test A': [a('192.0.2.1')] })).toEqual(itself);
  expect(await route({ 'receiver.test AAAA': [aaaa('2001:db8::1')] })).toEqual(itself);
  expect(await route({ 'receiver.test AAAA': [aaaa('2001:db8::1')], 'receiver.test A': 'servfail' })).toEqual(
    itself,
  );
});

test('a domain that does not exist, or has nothing, refuses', async () => {
  expect(await route({})).toMatchObject({ status: 'refused', enhancedCode: '5.1.2' });
  expect(await route({ 'receiver.test TXT': [] })).toMatchObject({
    status: 'refused',
    enhancedCode: '5.1.2',
  });
});

for (const failure of ['servfail', 'refused', 'silence'] as const)
  test(`${failure} proves nothing`, async () => {
    expect(await route({ 'receiver.test MX': failure, 'receiver.test A': [a('192.0.2.1')] })).toMatchObject({
      status: 'deferred',
      reason: expect.stringContaining('receiver.test'),
    });
    expect(await route({ 'receiver.test TXT': [], 'receiver.test A': failure })).toMatchObject({
      status: 'deferred',
    });
  });
