import { afterAll, describe, expect, test } from 'bun:test';
import { generateDkimKey } from '../../../src/mail/dkim/key-pair.ts';
import { checkRecords } from '../../../src/mail/dns/check-records.ts';
import { a, cname, mx, txt } from './name-server.ts';
import { failed, openRecordChecks, pending, spf, verified } from './record-checks.ts';

const { check, dns, patient } = await openRecordChecks();
afterAll(() => dns[Symbol.asyncDispose]());

const { dnsValue } = await generateDkimKey('rsa-sha256');
const NAME = 'ph._domainkey.shop.test';
const dkim = { purpose: 'dkim', type: 'TXT', name: NAME, value: dnsValue, priority: null } as const;
const dmarc = {
  purpose: 'dmarc',
  type: 'TXT',
  name: '_dmarc.shop.test',
  value: 'v=DMARC1; p=none',
  priority: null,
} as const;
const back = {
  purpose: 'returnPath',
  type: 'MX',
  name: 'b.shop.test',
  value: 'in.posthorn.test',
  priority: 10,
} as const;
const tracking = {
  purpose: 'tracking',
  type: 'CNAME',
  name: 't.shop.test',
  value: 'track.posthorn.test',
  priority: null,
} as const;

const halves = (value: string) => txt(value.slice(0, 255), value.slice(255));
describe('a DKIM key', () => {
  const at = (...records: ReturnType<typeof txt>[]) =>
    check(dkim, { [`${NAME.toLowerCase()} TXT`]: records });
  const [, p = ''] = /p=(.+)/.exec(dnsValue) ?? [];

  test('is there, in however many strings and with whatever white space', async () => {
    expect(await at(halves(dnsValue))).toMatchObject(verified);
    expect(await at(halves(`k=rsa ;p= ${p.slice(0, 100)} ${p.slice(100)};`))).toMatchObject(verified);
    expect(await at(halves(`p=${p}`), txt('unrelated'))).toMatchObject(verified);
  });
  test('is not there yet', async () => {
    expect(await check(dkim, {})).toMatchObject({ ...pending('no DKIM key'), found: [] });
    expect(await at(txt('unrelated'))).toMatchObject({ ...pending('no DKIM key'), found: ['unrelated'] });
  });
  test('is another one, cut off, revoked, or one of two', async () => {
    expect(await at(halves(dnsValue.replace(/p=.{20}/, 'p=MIIBIjANBgkqhkiXXXXX')))).toMatchObject(
      failed('another one'),
    );
    expect(await at(txt(dnsValue.slice(0, 255)))).toMatchObject(failed('cut off after 237 of 392'));
    expect(await at(txt('v=DKIM1; p='))).toMatchObject(failed('revoked'));
    expect(await at(halves(dnsValue), txt('v=DKIM1; p=AAAA'))).toMatchObject(failed('2 DKIM keys'));
  });

  const key = dnsValue.slice(dnsValue.indexOf('p='));
  test.each([
    `p=${key.slice(2)}`,
    `v=DKIM1; k=rsa; h=sha1:sha256; s=email; t=s; n=mine; ${key};`,
    `v = DKIM1 ; k = rsa ; ${key.replace('=', ' = ')} ;`,
  ])('is taken as %s', async (record) => {
    expect(await at(halves(record))).toMatchObject(verified);
  });

  // python3-dkim, Mail::DKIM and mailauth: one or more of them take no signature by such a key.
  test.each([
    ['v=dkim1', `v=dkim1; ${key}`],
    ['v=DKIM2', `v=DKIM2; ${key}`],
    ['k=RSA', `v=DKIM1; k=RSA; ${key}`],
    ['k=ed25519', `v=DKIM1; k=ed25519; ${key}`],
    ['h=sha1', `v=DKIM1; h=sha1; ${key}`],
    ['s=tlsrpt', `v=DKIM1; s=tlsrpt; ${key}`],
    ['the second k=', `v=DKIM1; k=rsa; k=rsa; ${key}`],
    ['"posthorn"', `v=DKIM1; posthorn; ${key}`],
    ['P=', `v=DKIM1; k=rsa; P=${key.slice(2)}`],
  ])('is ignored by receivers because of %s', async (part, record) => {
    expect(await at(halves(record))).toMatchObject(failed(`receivers ignore it because of ${part}`));
  });
  test('cannot be there beside an alias', async () => {
    const alias = [cname('other.test')];
    expect(await check(dkim, { [`${NAME} TXT`]: alias, [`${NAME} CNAME`]: alias })).toEqual({
      status: 'failed',
      found: ['CNAME other.test'],
      error: `${NAME} is an alias (CNAME) of other.test, so it can have no TXT record; remove the CNAME record.`,
    });
  });
  test('may be there through an alias', async () => {
    const chain = [cname('keys.test'), { name: 'keys.test', ...halves(dnsValue) }];
    expect(
      await check(dkim, { [`${NAME} TXT`]: chain, [`${NAME} CNAME`]: [cname('keys.test')] }),
    ).toMatchObject(verified);
  });
  test.each([
    ['quotation marks', `"${dnsValue.slice(0, 200)}" "${dnsValue.slice(200)}"`],
    ['backslashes', dnsValue.replaceAll(';', '\\;')],
    [
      'invisible characters',
      dnsValue.replace('v=', '\u200bv=').replace('k=', '\u00a0k=').replace('=rsa', '=rsa\u200b'),
    ],
  ])('has %s of the page or the file that it was copied from', async (marks, text) => {
    // Strings are of 255 octets, and these characters have up to three.
    const parts = (value: string) => txt(value.slice(0, 200), value.slice(200));
    expect(await at(parts(text))).toMatchObject(failed(`has ${marks} in its text`));
    expect(await at(parts(text.replace(/(p=.{20}).{4}/, '$1XXXX')))).toMatchObject(failed('another one'));
  });
  test('went to a name with the domain twice', async () => {
    expect(await check(dkim, { [`${NAME}.shop.test TXT`]: [halves(dnsValue)] })).toMatchObject(
      failed('Enter the name as ph._domainkey.'),
    );
  });
  test('of a subdomain went to a name with the registered domain twice', async () => {
    const name = 'ph._domainkey.news.shop.test';
    dns.zone = {
      [`${name}.shop.test TXT`]: [halves(dnsValue)],
      '_dmarc.shop.test.news.shop.test TXT': [txt('v=DMARC1; p=none')],
    };
    const context = { resolver: patient, domain: 'news.shop.test' };
    expect(await checkRecords([{ ...dkim, name }], context)).toMatchObject([
      failed('Enter the name as ph._domainkey.news.'),
    ]);
    // The policy of the registered domain is at no name below this domain, so that none could have been
    // doubled.
    expect(await checkRecords([dmarc], context)).toMatchObject([pending('no DMARC policy')]);
  });
});

describe('an SPF record', () => {
  const others = { '_spf.other.test TXT': [txt('v=spf1 -all')], 'other.test TXT': [txt('v=spf1 -all')] };
  const at = (...texts: string[]) =>
    check(spf, { ...others, 'b.shop.test TXT': texts.map((text) => txt(text)) });
  test('allows us, among others', async () => {
    expect(await at('v=spf1 ip4:192.0.2.1 -all')).toMatchObject(verified);
    expect(await at('V=SPF1 include:_spf.other.test IP4:192.0.2.1 ?all', 'x')).toMatchObject(verified);
  });
  test.each(['+ip4:192.0.2.1', 'ip4:192.0.2.1/32', 'ip4:192.0.2.0/24', '+IP4:192.0.0.0/16'])(
    'lets the server through by %s',
    async (term) => expect(await at(`v=spf1 +mx ${term} -all`)).toMatchObject(verified),
  );
  test.each(['ip4:192.0.2.128/25', 'ip6:2001:db8::/32', 'a:192.0.2.1.test'])(
    'does not let the server through by %s',
    async (term) =>
      expect(await at(`v=spf1 ${term} -all`)).toMatchObject(failed('lacks ip4:192.0.2.1; change it to')),
  );
  // The first term that matches decides.
  test.each([
    ['?ip4:192.0.2.1', '?ip4:192.0.2.1'],
    ['-ip4:192.0.2.0/24', '-ip4:192.0.2.0/24'],
    ['-ip4:192.0.2.1', '-ip4:192.0.2.1 ip4:192.0.2.0/24'],
    ['~ip4:192.0.2.0/28', '~ip4:192.0.2.0/28 ip4:192.0.2.1'],
  ])('does not let the server through behind %s', async (first, terms) =>
    expect(await at(`v=spf1 ${terms} -all`)).toMatchObject(
      failed(`because of ${first}, which comes first; change it to: v=spf1 ip4:192.0.2.1 ${first}`),
    ),
  );
  test('lets the server through before a network that it does not', async () =>
    expect(await at('v=spf1 ip4:192.0.2.1 -ip4:192.0.2.0/24 -all')).toMatchObject(verified));
  test('lets a server of IPv6 through by its network', async () => {
    const six = { ...spf, value: 'v=spf1 ip6:2001:db8::5 ~all' };
    const by = (policy: string) => check(six, { ...others, 'b.shop.test TXT': [txt(policy)] });
    expect(await by('v=spf1 ip6:2001:db8::/64 -all')).toMatchObject(verified);
    expect(await by('v=spf1 ip6:2001:db8:1::/64 ip4:0.0.0.0/0 -all')).toMatchObject(
      failed('lacks ip6:2001:db8::5'),
    );
  });
  test('is missing', async () => expect(await at('v=spf10')).toMatchObject(pending('no SPF record')));
  test('is there in quotation marks', async () =>
    expect(await at('"v=spf1 ip4:192.0.2.1 ~all"')).toMatchObject(failed('has quotation marks in its text')));
  test('does not allow us: the sentence says what it should be', async () => {
    expect(await at('v=spf1 mx -all')).toMatchObject(failed('change it to: v=spf1 mx ip4:192.0.2.1 -all'));
  });
  test('allows us behind its all, where nothing is read', async () => {
    expect(await at('v=spf1 mx -all ip4:192.0.2.1')).toMatchObject(
      failed(
        'has ip4:192.0.2.1 behind its all, where nothing is read; change it to: v=spf1 mx ip4:192.0.2.1 -all',
      ),
    );
  });
  test('goes on at another name, which stays the last word', async () => {
    expect(await at('v=spf1 redirect=_spf.other.test')).toMatchObject(
      failed('change it to: v=spf1 ip4:192.0.2.1 redirect=_spf.other.test'),
    );
  });
  test('lets everyone through, or has a space that receivers take for none', async () => {
    expect(await at('v=spf1 +all ip4:192.0.2.1')).toMatchObject(verified);
    expect(await at('v=spf1\u00a0ip4:192.0.2.1\u00a0-all')).toMatchObject(failed('has invisible characters'));
  });
  test('begins with v=spf1: receivers see no record behind a space', async () => {
    expect(await at(' v=spf1 ip4:192.0.2.1 -all')).toMatchObject(failed('has leading spaces in its text'));
    expect(await at('  v=spf1 ip4:192.0.2.1 -all', 'v=spf1 ip4:192.0.2.1 ~all')).toMatchObject(verified);
  });
  test.each([
    'ipv4:192.0.2.9',
    '192.0.2.9',
    'ip4:192.0.2',
    'ip4:192.0.2.0/33',
    'ip4:192.0.2.9,192.0.2.8',
    'ip6:192.0.2.9',
    'ip4:',
    'a:',
    'include:',
    'mx:/24',
    '-all:x',
    'include;',
    'ip6:2001:db8::/129',
    'a/33',
    'mx//129',
    'exists:%{z}.test',
    'exists:%{d0}.test',
    'exists:%{c}.test',
    'a:x%.test',
    'foo=%{z}',
    '-exp=a.test',
    'a:mail.host.test,',
    'mx:"x"',
    'a:192.0.2.9',
    'include:localhost',
    'include:x.test/24',
    'redirect=',
  ])('has %s, an error for the whole of it', async (term) => {
    expect(await at(`v=spf1 ip4:192.0.2.1 ${term} -all`)).toMatchObject(failed(`has ${term}, for which`));
    expect(await at(`v=spf1 ip4:192.0.2.1 -all ${term}`)).toMatchObject(failed(`has ${term}, for which`));
  });
  test('has two of what may be there once', async () => {
    const policy = 'v=spf1 ip4:192.0.2.1 exp=a.other.test EXP=b.other.test';
    expect(await at(policy)).toMatchObject(failed('has two of exp='));
  });
  test.each([
    'a',
    'mx',
    '?a:host.other.test/24',
    'a/24//64',
    'mx//64',
    'MX:other.test',
    'ptr',
    'ptr:other.test',
    'a:a_b.test',
    'include:_spf.other.test',
    '~include:%{d}._spf.other.test',
    'exists:%{ir}.%{v}._spf.%{d2}',
    'exp=why.other.test',
    'include:other.test.',
    'exists:a%%b%_c%-d.%{L1R+-}.x-1.1-2',
    'ip6:2001:db8::/32',
    'ip6:::ffff:192.0.2.9',
    '+ip4:192.0.2.0/24',
    'ip4:10.0.0.0/0',
    'foo-1.x_y=',
    'ra=postmaster',
  ])('has %s, a term of it', async (term) => {
    expect(await at(`v=spf1  ${term} ip4:192.0.2.1 -all `)).toMatchObject(verified);
  });
  test('exists twice: the sentence says how to merge', async () => {
    expect(await at('v=spf1 mx -all', 'v=spf1 ip4:192.0.2.1 ~all')).toMatchObject(
      failed('merge them into one: v=spf1 mx ip4:192.0.2.1 -all'),
    );
    const unread = 'v=spf1 mx ipv4:192.0.2.9 exp=a.other.test -all';
    expect(await at(unread, 'v=spf1 ip4:192.0.2.1 exp=b.other.test ~all')).toMatchObject(
      failed(
        'leave out ipv4:192.0.2.9, for which receivers refuse all of it, and merge them into one: v=spf1 mx exp=a.other.test ip4:192.0.2.1 -all',
      ),
    );
  });
  test('has more terms than receivers look up', async () => {
    const includes = (number: number) =>
      Array.from({ length: number }, (_, index) => `exists:i${index}.test`).join(' ');
    expect(await at(`v=spf1 ${includes(9)} a ip4:192.0.2.1 exp=a.test -all`)).toMatchObject(verified);
    expect(await at(`v=spf1 ${includes(10)} ip4:192.0.2.1 redirect=a.test -all`)).toMatchObject(verified);
    const tooMany = expect.stringContaining('leave out 2 of its 12 terms that are looked up');
    // Receivers read up to the first term that matches.
    const early = `v=spf1 ip4:192.0.2.1 ${includes(12)} -all`;
    expect(await at(early)).toMatchObject({ status: 'verified', error: tooMany });
    expect(await at(`v=spf1 ${includes(12)} ip4:192.0.2.1 -all`)).toMatchObject({
      status: 'failed',
      error: tooMany,
    });
    const own = { ...spf, value: 'v=spf1 a:mail.host.test ~all' };
    const lacking = (text: string) => check(own, { 'b.shop.test TXT': [txt(text)] });
    expect(await lacking(`v=spf1 ${includes(9)} -all`)).toMatchObject(
      failed(`change it to: v=spf1 ${includes(9)} a:mail.host.test -all`),
    );
    expect(await lacking(`v=spf1 ${includes(12)} -all`)).toMatchObject(
      failed('lacks a:mail.host.test; leave out 3 of its 13 terms that are looked up'),
    );
  });
});

describe('an MX record', () => {
  test('points to us, whatever its priority', async () => {
    expect(await check(back, { 'b.shop.test MX': [mx('IN.posthorn.test.', 5)] })).toMatchObject({
      ...verified,
      found: ['5 in.posthorn.test'],
    });
  });
  test('points elsewhere or is missing', async () => {
    expect(await check(back, { 'b.shop.test MX': [mx('mx.other.test', 5)] })).toMatchObject({
      ...failed('does not point to in.posthorn.test'),
      found: ['5 mx.other.test'],
    });
    expect(await check(back, { 'b.shop.test A': [a('192.0.2.1')] })).toMatchObject(pending('no MX record'));
  });
});

describe('a CNAME record', () => {
  test('points to us, or has been flattened to our address', async () => {
    expect(await check(tracking, { 't.shop.test CNAME': [cname('track.posthorn.test')] })).toMatchObject(
      verified,
    );
    const flattened = {
      't.shop.test A': [a('192.0.2.5')],
      'track.posthorn.test A': [a('192.0.2.4'), a('192.0.2.5')],
    };
    expect(await check(tracking, flattened)).toMatchObject(verified);
  });
  test('points elsewhere, is something else, or is missing', async () => {
    expect(await check(tracking, { 't.shop.test CNAME': [cname('other.test')] })).toMatchObject(
      failed('does not point to'),
    );
    expect(await check(tracking, { 't.shop.test A': [a('192.0.2.5')] })).toMatchObject(
      failed('instead of a CNAME'),
    );
    expect(await check(tracking, {})).toMatchObject(pending('no CNAME record'));
  });
});

describe('while DNS gives no answer nothing is concluded', () => {
  for (const failure of ['servfail', 'refused', 'silence'] as const)
    for (const record of [dkim, spf, dmarc, back, tracking])
      test(`${record.purpose}, ${failure}`, async () => {
        expect(await check(record, { [`${record.name} ${record.type}`]: failure })).toMatchObject({
          status: 'unknown',
          error: expect.stringContaining('failed for now'),
        });
      });
});
