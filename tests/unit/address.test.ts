import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { type Address, formatAddress, isProblem, parseAddress } from '../../src/platform/text/address.ts';

const parsed = (text: string): Address => {
  const read = parseAddress(text);
  if (isProblem(read)) throw new Error(`${JSON.stringify(text)}: ${read.problem}`);
  return read;
};

const refused = (text: string): string => {
  const read = parseAddress(text);
  if (!isProblem(read)) throw new Error(`${JSON.stringify(text)} was read as ${JSON.stringify(read)}`);
  return read.problem;
};

const repeated = (piece: string, times: number) => piece.repeat(times);

describe('parsing an email address', () => {
  test.each<[text: string, expected: Partial<Address>]>([
    [
      'ada@example.com',
      { name: null, address: 'ada@example.com', key: 'ada@example.com', domain: 'example.com' },
    ],
    ['Ada@Example.COM', { address: 'Ada@Example.COM', key: 'ada@example.com', domain: 'example.com' }],
    ['Ada Lovelace <ada@example.com>', { name: 'Ada Lovelace', address: 'ada@example.com' }],
    ['Ada<ada@example.com>', { name: 'Ada' }],
    ['J. R. Doe <j@example.com>', { name: 'J. R. Doe' }],
    ["Conan O'Brien <c@example.com>", { name: "Conan O'Brien" }],
    ['Zoë Müller <z@example.com>', { name: 'Zoë Müller' }],
    ['👩‍👧 Family <f@example.com>', { name: '👩‍👧 Family' }],
    ['می‌خواهم <p@example.com>', { name: 'می‌خواهم' }],
    ['"Acme, Inc." <hello@acme.example>', { name: 'Acme, Inc.' }],
    ['"Ada \\"Countess\\" Lovelace" <a@example.com>', { name: 'Ada "Countess" Lovelace' }],
    ['"back\\\\slash" <a@example.com>', { name: 'back\\slash' }],
    ['"a@b.co" <a@example.com>', { name: 'a@b.co' }],
    ['"a <b>" <a@example.com>', { name: 'a <b>' }],
    ['<ada@example.com>', { name: null, address: 'ada@example.com' }],
    ['"" <ada@example.com>', { name: null }],
    ['" " <ada@example.com>', { name: null }],
    ["o'hara+news!#$%&*/?=^_`{|}~-@example.com", { domain: 'example.com' }],
    ['a@b.c', { domain: 'b.c' }],
    ['a@x--y.example', { domain: 'x--y.example' }],
    ['a@1.2.3.example', { domain: '1.2.3.example' }],
    ['a@münchen.example', { address: 'a@münchen.example', key: 'a@xn--mnchen-3ya.example' }],
    ['a@MÜNCHEN.example', { key: 'a@xn--mnchen-3ya.example' }],
    ['a@mu\u0308nchen.example', { key: 'a@xn--mnchen-3ya.example' }],
    ['a@xn--mnchen-3ya.example', { key: 'a@xn--mnchen-3ya.example' }],
    ['a@faß.example', { domain: 'xn--fa-hia.example' }],
    ['a@例え.テスト', { domain: 'xn--r8jz45g.xn--zckzah' }],
    ['a@क्\u200dष.example', { domain: 'xn--11b2ezcw70k.example' }],
    ['пользователь@почта.рф', { utf8Local: true, domain: 'xn--80a1acny.xn--p1ai' }],
    ['ZOË@example.com', { utf8Local: true, key: 'zoë@example.com' }],
    ['zoe\u0308@example.com', { utf8Local: true, address: 'zoe\u0308@example.com', key: 'zoë@example.com' }],
    [`${repeated('l', 64)}@example.com`, { utf8Local: false }],
    [`a@${repeated('d', 63)}.example`, { domain: `${repeated('d', 63)}.example` }],
    [`a@${repeated('d23456789.', 25)}ab`, { utf8Local: false }],
    [`${repeated('n', 256)} <a@example.com>`, { name: repeated('n', 256) }],
  ])('%j is read', (text, expected) => {
    expect(parsed(text)).toMatchObject({ utf8Local: false, ...expected });
  });

  test('a domain in another script is another domain, however it looks', () => {
    expect(parsed('a@аррӏе.com').domain).toBe('xn--80ak6aa92e.com');
    expect(parsed('a@аррӏе.com').key).not.toBe(parsed('a@apple.com').key);
  });
});

describe('refused as an email address:', () => {
  const hostile: Record<string, readonly string[]> = {
    nothing: [
      '',
      ' ',
      '@',
      '<>',
      'ada',
      'ada@',
      '@example.com',
      'Ada',
      'Ada <>',
      'Ada <ada>',
      '>',
      '<ada@example.com',
    ],
    'a smuggled header': [
      'c@d.co\r\nBcc: evil@x.co',
      'c@d.co\nBcc: evil@x.co',
      'c@d.co\r\n',
      '\r\nc@d.co',
      'Ada\r\nBcc: evil@x.co <c@d.co>',
      '"Ada\r\n" <c@d.co>',
      'Ada <c@d.co\r\n>',
      '"\\\r\\\n" <c@d.co>',
    ],
    'a control': [
      'c@d.co\0',
      '\0c@d.co',
      'c\t@d.co',
      'Ada\t<c@d.co>',
      'Ada\x7f <c@d.co>',
      'Ada\x85 <c@d.co>',
      '\x1bAda <c@d.co>',
    ],
    'a group': [
      'Friends: a@b.co, c@d.co;',
      'Friends: a@b.co;',
      'undisclosed-recipients:;',
      'G:a@b.co',
      'G: <a@b.co>',
    ],
    'a list': [
      'a@b.co, c@d.co',
      'a@b.co;c@d.co',
      'a@b.co,',
      'Ada <a@b.co>, Bob <c@d.co>',
      'Ada <a@b.co> <c@d.co>',
      'a@b.co c@d.co',
    ],
    'a comment': ['a@b.co (Ada)', '(Ada) a@b.co', 'a(x)@b.co', 'a@b(x).co', 'Ada (me) <a@b.co>'],
    'a quoted local part': ['"a"@b.co', '"a b"@b.co', '"a@b"@c.co', '"a\\"b"@c.co'],
    'a crooked local part': [
      '.a@b.co',
      'a.@b.co',
      'a..b@b.co',
      'a b@b.co',
      ' a@b.co',
      'a@b@c.co',
      'a\\b@c.co',
      `${repeated('l', 65)}@b.co`,
    ],
    'an IP address': [
      'a@[127.0.0.1]',
      'a@[IPv6:::1]',
      'a@127.0.0.1',
      'a@１２７.0.0.1',
      'a@0x7f.1',
      'a@1',
      'a@2130706433',
      'a@::1',
    ],
    'a crooked host': [
      'a@localhost',
      'a@b',
      'a@b.',
      'a@.b',
      'a@b..co',
      'a@-b.co',
      'a@b-.co',
      'a@b.co-',
      'a@b_c.co',
      'a@b.123',
      'a@b.1co',
      'a@b.co ',
      'a@ b.co',
      'a@b.co:25',
      'a@b.co/x',
      'a@ü.co/x',
      'a@ü.co?x',
      'a@ü.co#x',
      'a@ü.co\\x',
      'a@ü%41.co',
      'a@a%41.co',
      'a@☃.net',
      'a@xn--a.de',
      'a@ab\u3002co',
      'a@a\u200db.co',
      `a@${repeated('d', 64)}.co`,
      `a@${repeated('d23456789.', 25)}abcd`,
    ],
    'what cannot be seen': [
      'a@exa\u200bmple.com',
      'a@exa\u00admple.com',
      'a@exa\ufeffmple.com',
      'a@exa\u202emple.com',
      'a\u200b@example.com',
      'a\u202e@example.com',
      'Ada\u200b <a@b.co>',
      'Ada\u202egro.live@ <a@b.co>',
      'Ada\u2066 <a@b.co>',
      'Ada\u2028 <a@b.co>',
      'Ada\u00ad <a@b.co>',
      'Ada\u{e0041} <a@b.co>',
    ],
    'half a character': ['a\ud800@b.co', 'a@b\ud800.co', 'Ada\udc00 <a@b.co>', '"\ud83d" <a@b.co>'],
    'a local part of symbols from afar': ['a＠b@c.co', 'a＜b@c.co', '💌@c.co', 'a\u3000b@c.co'],
    'an encoded word for a local part': [
      '=?utf-8?Q?ceo=40bank.com=00?=@acme.test',
      'Ada <=?utf-8?B?YWRh?=@acme.test>',
      'a=?b@acme.test',
      'é=?b@acme.test',
    ],
    'a crooked name': [
      'Acme, Inc. <a@b.co>',
      'a@b.co <a@b.co>',
      '"Ada <a@b.co>',
      'Ada" <a@b.co>',
      '"Ada" Lovelace <a@b.co>',
      '"Ada\\" <a@b.co>',
      'Ada: <a@b.co>',
      'Ada [x] <a@b.co>',
      'Ada \\ <a@b.co>',
      '=?utf-8?q?Ada=0D=0ABcc:_x?= <a@b.co>',
      '"=?utf-8?q?Ada?=" <a@b.co>',
      `${repeated('n', 257)} <a@b.co>`,
    ],
    'anything endless': [
      `${repeated('a', 5_000_000)}@b.co`,
      `a@${repeated('b.', 1_000_000)}co`,
      `${repeated('<', 100_000)}>`,
    ],
  };

  for (const [kind, texts] of Object.entries(hostile)) {
    test(kind, () => {
      for (const text of texts) expect(refused(text)).toStartWith('Must ');
    });
  }

  test('and the reason tells which part is wrong', () => {
    expect(refused('a@b.co, c@d.co')).toContain('array');
    expect(refused('Acme, Inc. <a@b.co>')).toContain('double quotes');
    expect(refused(`${repeated('l', 65)}@b.co`)).toContain('64 octets');
    expect(refused(`${repeated('é', 33)}@b.co`)).toContain('64 octets');
    expect(refused('a@localhost')).toContain('domain');
    for (const text of [' a@b.co', 'a@b.co\n', 'Ada <a@b.co> ', 'Ada < a@b.co>', '\u00a0a@b.co'])
      expect(refused(text)).toContain('no spaces');
    expect(refused(`${repeated('l', 60)}@${repeated('d23456789.', 20)}com`)).toContain('254 octets');
    expect(refused('ada')).toContain('user@example.com');
  });
});

describe('parsing arbitrary text as an address', () => {
  const anything = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.string({ unit: fc.constantFrom(...'a1.-@<>"\\,;:()= \r\n\0\u200b\u202e\ud800éü。') }),
    fc
      .tuple(fc.string({ unit: 'grapheme' }), fc.emailAddress())
      .map(([name, address]) => `"${name.replace(/["\\]/g, '\\$&')}" <${address}>`),
    fc.tuple(fc.string({ unit: 'binary' }), fc.domain()).map(([local, domain]) => `${local}@${domain}`),
  );

  test('what is read has no control in it, and reads back as itself', () => {
    let read = 0;
    fc.assert(
      fc.property(anything, (text) => {
        const address = parseAddress(text);
        if (isProblem(address)) return;
        read++;
        const { name, ...rest } = address;
        for (const part of [name ?? '', rest.address, rest.key, rest.domain])
          expect(part).not.toMatch(/[\p{Cc}\p{Cs}]/u);
        expect(rest.address).not.toMatch(/[\s<>,;:"\\]/);
        expect(rest.domain).toMatch(/^[a-z0-9.-]+$/);
        expect(rest.key.endsWith(`@${rest.domain}`)).toBe(true);
        expect(parseAddress(formatAddress(address))).toEqual(address);
        expect(parsed(address.key).key).toBe(address.key);
      }),
      { numRuns: 3_000 },
    );
    expect(read).toBeGreaterThan(200);
  });

  test('a name survives being written and read', () => {
    const name = fc
      .string({ unit: 'grapheme-composite', minLength: 1, maxLength: 60 })
      .filter(
        (text) => text === text.trim() && text !== '' && !/=\?|[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u.test(text),
      );
    fc.assert(
      fc.property(name, (given) => {
        expect(parsed(formatAddress({ name: given, address: 'a@b.co' })).name).toBe(given);
      }),
      { numRuns: 1_000 },
    );
  });
});
