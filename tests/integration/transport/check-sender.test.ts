import { afterAll, beforeEach, describe, expect, test } from 'bun:test';
import { generateKeyPairSync } from 'node:crypto';
import { sealMessage } from 'mailauth/lib/arc/index.js';
import { dkimSign } from 'mailauth/lib/dkim/sign.js';
import { MOST_SIGNATURES } from '../../../src/mail/authentication/bounded-header.ts';
import { checkSender } from '../../../src/mail/authentication/check-sender.ts';
import { createSenderChecks } from '../../../src/mail/authentication/sender-checks.ts';
import { mayPassLater } from '../../../src/mail/authentication/sender-results.ts';
import { createResolver } from '../../../src/mail/dns/resolver.ts';
import { a, mx, startNameServer, txt, type Zone } from './name-server.ts';

const dns = await startNameServer();
afterAll(() => dns[Symbol.asyncDispose]());
beforeEach(() => {
  dns.asked.length = 0;
});
const resolver = createResolver([dns.server], { timeoutMs: 60_000, rounds: 1 });
const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const PRIVATE = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
const KEY = `v=DKIM1; k=rsa; p=${publicKey.export({ type: 'spki', format: 'der' }).toString('base64')}`;
const keyRecord = txt(KEY.slice(0, 255), KEY.slice(255));

const MESSAGE = [
  'From: Reports <dmarc@reader.test>',
  'To: dmarc@send.shop.test',
  'Subject: Report',
  'Date: Wed, 25 Nov 2026 04:00:00 +0000',
  'Message-ID: <1@reader.test>',
  '',
  'Hello',
  '',
].join('\r\n');

const signed = async (domain = 'reader.test', message = MESSAGE): Promise<string> => {
  const key = { signingDomain: domain, selector: 's1', privateKey: PRIVATE };
  // The types want the key twice; the code reads it in the list alone.
  const { signatures } = await dkimSign(message, { ...key, signatureData: [key] });
  return signatures + message;
};

const SPF = 'v=spf1 ip4:192.0.2.7 -all';
const ZONE: Zone = {
  'reader.test TXT': [txt(SPF)],
  'reader.test A': [a('192.0.2.7')],
  's1._domainkey.reader.test TXT': [keyRecord],
  's1._domainkey.elsewhere.test TXT': [keyRecord],
  '_dmarc.reader.test TXT': [txt('v=DMARC1; p=reject')],
  'elsewhere.test TXT': [txt(SPF)],
};

const check = (
  raw: string,
  {
    zone = ZONE,
    client = '192.0.2.7',
    from = 'dmarc@reader.test',
  }: { zone?: Zone; client?: string; from?: string } = {},
) => {
  dns.zone = zone;
  return checkSender({ client, helo: 'out.reader.test', from, raw: Buffer.from(raw) }, resolver);
};

describe('a sender', () => {
  test('is proven by SPF and by DKIM', async () => {
    expect(await check(await signed())).toEqual({
      spf: { result: 'pass', domain: 'reader.test' },
      dkim: { result: 'pass', domains: ['reader.test'] },
      dmarc: { result: 'pass', policy: 'reject', domain: 'reader.test' },
      arc: { result: 'none' },
      author: 'reader.test',
    });
  });
  test('is proven by SPF alone, by an IPv4 address in IPv6 as well', async () => {
    expect(await check(MESSAGE, { client: '::ffff:192.0.2.7' })).toMatchObject({
      dkim: { result: 'none', domains: [] },
      author: 'reader.test',
    });
  });
  test('is proven by DKIM alone', async () => {
    expect(await check(await signed(), { client: '192.0.2.8', from: 'x@elsewhere.test' })).toMatchObject({
      spf: { result: 'fail', domain: 'elsewhere.test' },
      dmarc: { result: 'pass' },
      author: 'reader.test',
    });
  });
  test('without a policy is proven all the same', async () => {
    const { '_dmarc.reader.test TXT': _, ...zone } = ZONE;
    expect(await check(MESSAGE, { zone })).toMatchObject({
      dmarc: { result: 'none', policy: null },
      author: 'reader.test',
    });
  });
  test('whose policy is that of the organization is proven by its signature', async () => {
    const message = MESSAGE.replace('dmarc@reader.test', 'dmarc@a.reader.test');
    expect(await check(await signed('reader.test', message))).toMatchObject({
      dmarc: { result: 'pass', domain: 'a.reader.test' },
      author: 'a.reader.test',
    });
  });
  test('proves no other customer of a host whose names belong to its customers', async () => {
    const zone: Zone = {
      'evil.github.io TXT': [txt(SPF)],
      's1._domainkey.evil.github.io TXT': [keyRecord],
    };
    const from = 'dmarc@evil.github.io';
    const raw = (name: string) => MESSAGE.replace('dmarc@reader.test', `dmarc@${name}`);
    const message = await signed('evil.github.io', raw('victim.github.io'));
    expect((await check(message, { zone, from })).author).toBeNull();
    const own = await signed('evil.github.io', raw('a.evil.github.io'));
    expect((await check(own, { zone, from })).author).toBe('a.evil.github.io');
  });

  const forged: readonly (readonly [string, () => Promise<string>, object])[] = [
    ['that nothing proves', async () => MESSAGE, { client: '192.0.2.8' }],
    [
      'with the signature and SPF of another domain',
      () => signed('elsewhere.test'),
      { from: 'x@elsewhere.test' },
    ],
    ['of a changed message', async () => (await signed()).replace('Hello', 'Hallo'), { client: '192.0.2.8' }],
    ['with two From fields', async () => `From: a@elsewhere.test\r\n${await signed()}`, {}],
    ['without a From field', async () => MESSAGE.replace(/^From.*\r\n/, ''), {}],
    ['with too large a header', async () => `X: ${'a'.repeat(300_000)}\r\n${await signed()}`, {}],
  ];
  for (const [name, raw, more] of forged)
    test(`${name} is not proven`, async () => {
      const results = await check(await raw(), more);
      expect([results.author, mayPassLater(results)]).toEqual([null, false]);
    });

  test('may be proven later when DNS gives no answer', async () => {
    const zone: Zone = {
      ...ZONE,
      'reader.test TXT': 'servfail',
      's1._domainkey.reader.test TXT': 'servfail',
    };
    const results = await check(await signed(), { zone });
    expect([results.author, results.spf.result, results.dkim.result]).toEqual([
      null,
      'temperror',
      'temperror',
    ]);
    expect(mayPassLater(results)).toBe(true);
  });
});

describe('a signature that states the length of the body', () => {
  const limited = async (octets: number): Promise<string> => {
    const key = { signingDomain: 'reader.test', selector: 's1', privateKey: PRIVATE, maxBodyLength: octets };
    const { signatures } = await dkimSign(MESSAGE, { ...key, signatureData: [key] });
    expect(signatures).toContain(`l=${octets}`);
    return signatures + MESSAGE;
  };
  const elsewhere = { client: '192.0.2.8', from: 'x@elsewhere.test' };

  test('proves its author while it covers the whole body', async () => {
    expect(await check(await limited(7), elsewhere)).toMatchObject({
      dkim: { result: 'pass', domains: ['reader.test'] },
      author: 'reader.test',
    });
  });
  test('proves nothing of a body that it covers in part', async () => {
    for (const raw of [await limited(0), await limited(6), `${await limited(7)}And more.\r\n`])
      expect(await check(raw, elsewhere)).toMatchObject({
        dkim: { result: 'fail', domains: [] },
        dmarc: { result: 'fail' },
        author: null,
      });
  });
});

test('the seal of a forwarder is checked', async () => {
  // Signed once: a signature names its second.
  const message = Buffer.from(await signed());
  const seal = await sealMessage(message, {
    signingDomain: 'elsewhere.test',
    selector: 's1',
    privateKey: PRIVATE,
    authResults: 'mx.elsewhere.test; dkim=pass header.d=reader.test',
    cv: 'none',
  });
  const sealed = Buffer.concat([seal, message]).toString();
  expect((await check(sealed)).arc.result).toBe('pass');
  expect((await check(sealed.replace('Hello', 'Hallo'))).arc.result).toBe('fail');
});

test('the lookups of a message are bounded', async () => {
  const hosts = Array.from({ length: 10 }, (_, at) => `m${at}.reader.test`);
  const zone: Zone = {
    ...ZONE,
    'reader.test TXT': [txt(`v=spf1 ${hosts.map((host) => `mx:${host}`).join(' ')} -all`)],
    ...Object.fromEntries(
      hosts.map((host) => [`${host} MX`, hosts.map((each) => mx(`${host}.${each}`, 10))]),
    ),
  };
  dns.zone = zone;
  const limits = { most: 20, withinMs: 60_000 };
  const raw = Buffer.from(MESSAGE);
  const results = await checkSender(
    { client: '192.0.2.8', helo: 'x', from: 'a@reader.test', raw },
    resolver,
    limits,
  );
  expect(results.author).toBeNull();
  expect(dns.asked.length).toBe(20);
});

test('the time of a message is bounded', async () => {
  const slow = { timeoutMs: 60_000, rounds: 1 };
  dns.zone = { ...ZONE, 'reader.test TXT': 'silence', 's1._domainkey.reader.test TXT': 'silence' };
  const raw = Buffer.from(await signed());
  const results = await checkSender(
    { client: '192.0.2.7', helo: 'x', from: 'a@reader.test', raw },
    createResolver([dns.server], slow),
    { most: 100, withinMs: 200 },
  );
  expect([results.spf.result, results.dkim.result, results.author]).toEqual(['temperror', 'temperror', null]);
});

test('the uppermost signatures count, and a thousand cost no more than ten', async () => {
  const bad = 'DKIM-Signature: v=1; a=rsa-sha256; d=elsewhere.test; s=s1; h=from; bh=AAAA; b=AAAA; l=1\r\n';
  expect((await check(bad.repeat(MOST_SIGNATURES - 1) + (await signed()))).dkim.result).toBe('pass');
  expect((await check(bad.repeat(MOST_SIGNATURES) + (await signed()))).dkim.result).not.toBe('pass');
});

test('the threads check a message', async () => {
  dns.zone = ZONE;
  const checks = createSenderChecks(() => [dns.server]);
  try {
    const raw = Buffer.from(await signed());
    const message = { client: '192.0.2.7', helo: 'x', from: 'dmarc@reader.test', raw };
    expect((await checks.check(message)).author).toBe('reader.test');
  } finally {
    checks.close();
  }
});

test('senders whose name servers are silent delay no other client', async () => {
  dns.zone = { ...ZONE, 'slow.test TXT': 'silence' };
  const limits = { threads: 1, perThread: 4, mostWaiting: 8 };
  const checks = createSenderChecks(() => [dns.server], limits);
  try {
    const raw = Buffer.from(await signed());
    const message = { client: '192.0.2.7', helo: 'x', from: 'dmarc@reader.test', raw };
    const slow = (client: string) =>
      checks
        .check({ ...message, client, from: 'a@slow.test', raw: Buffer.from(MESSAGE) })
        .then(() => 'answered')
        .catch(() => 'unavailable');
    const waiting = ['192.0.2.1', '192.0.2.1', '2001:db8::1', '2001:db8::2'].map(slow);
    expect((await checks.check(message)).author).toBe('reader.test');
    checks.close();
    expect(await Promise.all(waiting)).toEqual(Array(4).fill('unavailable'));
  } finally {
    checks.close();
  }
});
