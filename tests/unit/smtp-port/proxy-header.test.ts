import { describe, expect, test } from 'bun:test';
import { LONGEST_HEADER, readProxyHeader } from '../../../src/mail/inbound/port/proxy-header.ts';
import { binaryHeader, SIGNATURE } from '../../support/proxy-headers.ts';

const line = (text: string) => Buffer.from(`${text}\r\n`, 'latin1');

const WHOLE: Readonly<Record<string, readonly [Buffer, string | null]>> = {
  'version 2 with IPv4': [binaryHeader('192.0.2.7'), '192.0.2.7'],
  'version 2 with IPv6': [binaryHeader('2001:db8::7'), '2001:db8::7'],
  'version 2 with IPv4 inside IPv6': [binaryHeader('::ffff:192.0.2.7'), '192.0.2.7'],
  // TLV of a balancer: its kind, its length, its octets.
  'version 2 with further facts': [
    binaryHeader('192.0.2.7', { more: Buffer.from('\xea\0\x03vpc\x20\0\x05\x01\0\0\0\0', 'latin1') }),
    '192.0.2.7',
  ],
  'a health check by version 2': [binaryHeader(null), null],
  // Amazon's network balancer sends addresses with it, which have to be skipped.
  'a health check with addresses': [binaryHeader('192.0.2.7', { command: 0 }), null],
  'a health check of a family that is unknown': [
    binaryHeader('192.0.2.7', { command: 0, family: 0x31 }),
    null,
  ],
  'version 2 of a client that the balancer does not know': [binaryHeader('192.0.2.7', { family: 0 }), null],
  'version 1 with IPv4': [line('PROXY TCP4 192.0.2.7 192.0.2.1 4711 25'), '192.0.2.7'],
  'version 1 with IPv6': [line('PROXY TCP6 2001:db8::7 2001:db8::1 4711 25'), '2001:db8::7'],
  'version 1 with IPv4 inside IPv6': [line('PROXY TCP6 ::ffff:192.0.2.7 ::1 65535 0'), '192.0.2.7'],
  'version 1 of a client that the balancer does not know': [line('PROXY UNKNOWN'), null],
  'version 1 UNKNOWN with words': [line('PROXY UNKNOWN ffff::1 ffff::2 65535 65535'), null],
};

describe('a PROXY header', () => {
  for (const [name, [octets, client]] of Object.entries(WHOLE))
    test(`is read, however it is cut: ${name}`, () => {
      const rest = Buffer.from('EHLO client.example\r\n');
      expect(readProxyHeader(Buffer.concat([octets, rest]))).toEqual({ client, octets: octets.length });
      for (let cut = 0; cut < octets.length; cut++)
        expect(readProxyHeader(octets.subarray(0, cut))).toBe('incomplete');
    });

  test.each<[string, Buffer]>([
    ['a command of SMTP', line('EHLO client.example')],
    ['a TLS handshake', Buffer.from([0x16, 3, 1, 2, 0])],
    ['another case', line('proxy TCP4 192.0.2.7 192.0.2.1 4711 25')],
    ['two spaces', line('PROXY  TCP4 192.0.2.7 192.0.2.1 4711 25')],
    ['a host in place of an address', line('PROXY TCP4 mail.example 192.0.2.1 4711 25')],
    ['a short form of an address', line('PROXY TCP4 127.1 192.0.2.1 4711 25')],
    ['the wrong family', line('PROXY TCP4 2001:db8::7 2001:db8::1 4711 25')],
    ['the wrong family of the target', line('PROXY TCP6 2001:db8::7 192.0.2.1 4711 25')],
    ['a zone', line('PROXY TCP6 fe80::1%eth0 2001:db8::1 4711 25')],
    ['a port that is none', line('PROXY TCP4 192.0.2.7 192.0.2.1 65536 25')],
    ['a missing port', line('PROXY TCP4 192.0.2.7 192.0.2.1 4711')],
    ['UDP', line('PROXY UDP4 192.0.2.7 192.0.2.1 4711 25')],
    ['a word that begins with UNKNOWN', line('PROXY UNKNOWNS')],
    ['LF alone, and no end within 107 octets', Buffer.from(`PROXY UNKNOWN\n${'x'.repeat(107)}`)],
    [
      'version 1 of binary form',
      Buffer.concat([SIGNATURE, Buffer.from([0x11, 0x11, 0, 12]), Buffer.alloc(12)]),
    ],
    ['version 3', Buffer.concat([SIGNATURE, Buffer.from([0x31, 0x11, 0, 12]), Buffer.alloc(12)])],
    ['an unknown command', binaryHeader('192.0.2.7', { command: 2 })],
    ['datagrams', binaryHeader('192.0.2.7', { family: 0x12 })],
    ['a socket of the machine', binaryHeader('192.0.2.7', { family: 0x31 })],
    ['fewer octets than its addresses take', binaryHeader('192.0.2.7', { family: 0x21 })],
    ['another octet in its signature', Buffer.from('\r\n\r\n\0\r\nQUIT\r', 'latin1')],
  ])('is refused at once: %s', (_, octets) => {
    expect(readProxyHeader(octets)).toBe('malformed');
  });

  test('of version 1 has at most 107 octets', () => {
    const words = (octets: number) => line(`PROXY UNKNOWN ${'x'.repeat(octets - 16)}`);
    expect(readProxyHeader(words(107))).toEqual({ client: null, octets: 107 });
    expect(readProxyHeader(words(108))).toBe('malformed');
    expect(readProxyHeader(words(108).subarray(0, 106))).toBe('incomplete');
  });

  test(`of version 2 has at most ${LONGEST_HEADER} octets, which its first sixteen decide`, () => {
    const most = binaryHeader('192.0.2.7', { more: Buffer.alloc(LONGEST_HEADER - 28) });
    expect(readProxyHeader(most)).toEqual({ client: '192.0.2.7', octets: LONGEST_HEADER });
    const long = binaryHeader('192.0.2.7', { more: Buffer.alloc(LONGEST_HEADER - 27) });
    expect(readProxyHeader(long.subarray(0, 16))).toBe('malformed');
    const local = binaryHeader(null, { more: Buffer.alloc(LONGEST_HEADER - 15) });
    expect(readProxyHeader(local.subarray(0, 16))).toBe('malformed');
  });
});
