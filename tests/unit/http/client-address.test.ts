import { describe, expect, test } from 'bun:test';
import { clientAddress, parseTrustedProxies } from '../../../src/platform/config/client-address.ts';

function clientOf(trust: string, socket: string, forwardedFor?: string): string {
  const proxies = parseTrustedProxies(trust);
  if (!proxies) throw new Error(`${trust} did not parse`);
  return clientAddress(proxies)(socket, new Headers(forwardedFor ? { 'x-forwarded-for': forwardedFor } : {}));
}

describe('TRUST_PROXY', () => {
  const good = ['', '0', '1', ' 2 ', '10.0.0.0/8', '127.0.0.1', '10.0.0.0/8, ::1/128', '2001:db8::/32'];
  test.each(good)('takes %p', (text) => expect(parseTrustedProxies(text)).not.toBeNull());

  const bad = ['yes', '-1', '1.5', '10.0.0.0/33', '10/8', '0x7f.1', '::1/129', '10.0.0.0/8,', 'a, 1', '100'];
  test.each(bad)('refuses %p', (text) => expect(parseTrustedProxies(text)).toBeNull());
});

describe('without a trusted proxy', () => {
  test('the socket decides, whatever the header claims', () => {
    expect(clientOf('', '192.0.2.1', '203.0.113.9')).toBe('192.0.2.1');
  });

  test('IPv4 inside IPv6 is the same client as IPv4', () => {
    expect(clientOf('', '::ffff:192.0.2.1')).toBe('192.0.2.1');
    expect(clientOf('', '::ffff:c000:201')).toBe('192.0.2.1');
  });

  test('IPv6 counts per /64', () => {
    expect(clientOf('', '2001:db8:1:2::1')).toBe(clientOf('', '2001:db8:1:2:ffff:ffff:ffff:ffff'));
    expect(clientOf('', '2001:db8:1:2::1')).not.toBe(clientOf('', '2001:db8:1:3::1'));
  });
});

describe('behind a number of proxies', () => {
  test.each([
    ['one hop believes the last entry', '1', '203.0.113.9', '203.0.113.9'],
    ['an invented entry before it changes nothing', '1', '8.8.8.8, 203.0.113.9', '203.0.113.9'],
    ['two hops believe the last but one', '2', '8.8.8.8, 203.0.113.9, 10.0.0.2', '203.0.113.9'],
    ['fewer entries than hops: the first', '3', '203.0.113.9, 10.0.0.2', '203.0.113.9'],
    ['an entry may have a port', '1', '203.0.113.9:4711', '203.0.113.9'],
    ['an IPv6 entry may have brackets and a port', '1', '[2001:db8:1:2::9]:4711', '2001:db8:1:2::/64'],
    ['what is no address is not believed', '1', 'unknown', '10.0.0.1'],
    ['nor what only looks like one', '1', '0x7f.1', '10.0.0.1'],
    ['nor an empty entry', '1', '203.0.113.9, ', '10.0.0.1'],
    ['a proxy that speaks IPv6 names the same client', '1', '::ffff:203.0.113.9', '203.0.113.9'],
  ])('%s', (_, hops, forwardedFor, client) => {
    expect(clientOf(hops, '10.0.0.1', forwardedFor)).toBe(client);
  });

  test('a missing header leaves the socket', () => expect(clientOf('1', '10.0.0.1')).toBe('10.0.0.1'));
});

describe('behind proxies of known addresses', () => {
  const trust = '10.0.0.0/8, fd00::/8';
  test.each([
    [
      'entries are believed as long as trusted proxies wrote them',
      '10.0.0.1',
      '8.8.8.8, 203.0.113.9, 10.9.9.9',
      '203.0.113.9',
    ],
    ['a stranger is not believed', '198.51.100.7', '203.0.113.9', '198.51.100.7'],
    ['a proxy on an IPv4 address inside IPv6 is known', '::ffff:10.0.0.1', '203.0.113.9', '203.0.113.9'],
    ['an IPv6 proxy is known', 'fd00::1', '203.0.113.9', '203.0.113.9'],
    ['only proxies in the list: the first of them', '10.0.0.1', '10.0.0.3, 10.0.0.2', '10.0.0.3'],
  ])('%s', (_, socket, forwardedFor, client) => {
    expect(clientOf(trust, socket, forwardedFor)).toBe(client);
  });
});
