import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { createAddressGuard, isLocalOnly } from '../../src/sending/webhooks/http/address-guard.ts';

const production = createAddressGuard({ allowPrivate: false, allowCidrs: [] });
const development = createAddressGuard({ allowPrivate: true, allowCidrs: [] });

/** IANA's special-purpose registries, clouds' own addresses, and IPv4 hidden inside IPv6. */
const FORBIDDEN = {
  'this network': ['0.0.0.0', '0.1.2.3'],
  'private (RFC 1918)': ['10.0.0.1', '10.255.255.255', '172.16.0.1', '172.31.255.255', '192.168.0.1'],
  loopback: ['127.0.0.1', '127.255.255.254', '::1'],
  'link-local': ['169.254.0.1', '169.254.255.255', 'fe80::1', 'febf::1'],
  'shared by carriers (RFC 6598)': ['100.64.0.1', '100.127.255.255'],
  'protocol assignments': ['192.0.0.1', '192.0.0.8', '192.0.0.171'],
  documentation: ['192.0.2.1', '198.51.100.1', '203.0.113.1', '2001:db8::1', '3fff::1'],
  benchmarking: ['198.18.0.1', '198.19.255.255', '2001:2::1'],
  '6to4 relays': ['192.88.99.1'],
  multicast: ['224.0.0.1', '239.255.255.255', 'ff02::1', 'ff0e::1'],
  reserved: ['240.0.0.1', '255.255.255.254'],
  broadcast: ['255.255.255.255'],
  unspecified: ['::'],
  'unique local': ['fc00::1', 'fdff:ffff::1'],
  'site-local (deprecated)': ['fec0::1', 'feff::1'],
  'unassigned IPv6': ['4000::1', '8000::1', 'e000::1', '0:0:0:1::1', '200::1'],
  discard: ['100::1'],
  'ORCHID and segment routing': ['2001:10::1', '2001:20::1', '5f00::1'],
  metadata: [
    '169.254.169.254',
    '169.254.170.2',
    '168.63.129.16',
    '100.100.100.200',
    'fd00:ec2::254',
    'fd20:ce::254',
  ],
  'IPv4 mapped': ['::ffff:127.0.0.1', '::ffff:a00:1', '::ffff:169.254.169.254', '::FFFF:192.168.1.1'],
  'IPv4 compatible': ['::127.0.0.1', '::7f00:1', '::10.0.0.1', '::8.8.8.8'],
  'SIIT (RFC 6145)': ['::ffff:0:127.0.0.1', '::ffff:0:8.8.8.8'],
  'NAT64 with private IPv4': [
    '64:ff9b::10.0.0.1',
    '64:ff9b::7f00:1',
    '64:ff9b::169.254.169.254',
    '64:ff9b::168.63.129.16',
  ],
  'NAT64 of a local network (RFC 8215)': ['64:ff9b:1::a00:1', '64:ff9b:1::8.8.8.8'],
  '6to4': ['2002:a00:1::1', '2002:7f00:1::', '2002:808:808::1'],
  Teredo: ['2001:0:808:808::1', '2001::1'],
  'scoped, malformed or a name': [
    'fe80::1%eth0',
    '2606:4700::1%1',
    '',
    'localhost',
    '127.1',
    '0x7f000001',
    '1.1.1.1.',
    '010.0.0.1',
    '[::1]',
  ],
} as const satisfies Record<string, readonly string[]>;

const PUBLIC = [
  '1.1.1.1',
  '8.8.8.8',
  '9.255.255.255',
  '11.0.0.0',
  '100.63.255.255',
  '100.128.0.0',
  '172.15.255.255',
  '172.32.0.0',
  '192.167.255.255',
  '198.17.255.255',
  '198.20.0.0',
  '223.255.255.255',
  '2606:4700::1111',
  '2a00:1450::1',
  '::ffff:8.8.8.8',
  '64:ff9b::8.8.8.8',
];

describe('the webhook address guard in production', () => {
  for (const [range, addresses] of Object.entries(FORBIDDEN))
    test.each([...addresses])(`${range}: %s is refused`, (address) => {
      expect(production(address)).toBe(false);
    });

  test.each(PUBLIC)('public: %s is allowed', (address) => {
    expect(production(address)).toBe(true);
  });

  test('an IPv4 address fares no better inside IPv6 than alone', () => {
    fc.assert(
      fc.property(fc.ipV4(), (v4) => {
        const alone = production(v4);
        expect(production(`::ffff:${v4}`)).toBe(alone);
        expect(production(`64:ff9b::${v4}`)).toBe(alone);
        expect(production(`::${v4}`)).toBe(false);
      }),
    );
  });
});

describe('the webhook address guard in the development profile', () => {
  test.each([
    '127.0.0.1',
    '::1',
    '10.1.2.3',
    '192.168.1.1',
    '172.17.0.1',
    'fd12::1',
    '::ffff:127.0.0.1',
    '8.8.8.8',
  ])('%s is allowed', (address) => {
    expect(development(address)).toBe(true);
  });

  test.each([...FORBIDDEN.metadata, ...FORBIDDEN['link-local'], ...FORBIDDEN.multicast, '0.0.0.0', '::'])(
    '%s is refused all the same',
    (address) => {
      expect(development(address)).toBe(false);
    },
  );
});

describe('WEBHOOK_ALLOW_CIDRS', () => {
  const opened = createAddressGuard({
    allowPrivate: false,
    allowCidrs: ['10.20.0.0/16', 'fd00::/8', '169.254.0.0/16', '192.0.2.7/32'],
  });

  test('opens its ranges, however the address is written', () => {
    for (const address of [
      '10.20.0.1',
      '::ffff:10.20.255.255',
      'fd12::1',
      '192.0.2.7',
      '169.254.1.1',
      '8.8.8.8',
    ])
      expect(opened(address)).toBe(true);
  });

  test('opens nothing else, and metadata never', () => {
    for (const address of [
      '10.21.0.1',
      '192.0.2.8',
      '127.0.0.1',
      'fe80::1',
      '169.254.169.254',
      'fd00:ec2::254',
    ])
      expect(opened(address)).toBe(false);
  });

  test('a range that is not CIDR stops the start', () => {
    for (const cidr of ['10.0.0.0', '10.0.0.0/33', 'example.com/8', ''])
      expect(() => createAddressGuard({ allowPrivate: false, allowCidrs: [cidr] })).toThrow();
  });
});

describe('the webhook address guard on loopback', () => {
  const alone = { host: '127.0.0.1', publicUrl: 'http://localhost:3000', trustProxy: { hops: 0 } };

  test('on a loopback address that nothing leads to from outside', () => {
    expect(isLocalOnly(alone)).toBe(true);
    expect(isLocalOnly({ ...alone, host: '::1', publicUrl: 'http://[::1]:3000' })).toBe(true);
  });

  test.each([
    ['listens for the world', { host: '0.0.0.0' }],
    ['has a public address', { publicUrl: 'https://mail.example.com' }],
    ['is behind a proxy', { trustProxy: { hops: 1 } }],
    ['is behind proxies that are named', { trustProxy: { ranges: [] } }],
  ])('but not when it %s', (_, change) => expect(isLocalOnly({ ...alone, ...change })).toBe(false));
});
