import { describe, expect, test } from 'bun:test';
import { generateKeyPairSync } from 'node:crypto';
import type { SigningKey } from '../../src/mail/dkim/signing-key.ts';
import { arcSet } from '../../src/mail/forwarding/arc-seal.ts';
import { forwardedMessage } from '../../src/mail/forwarding/forwarded.ts';
import { forwardedParts } from '../../src/sending/emails/raw/raw-message.ts';
import { costMs } from '../support/own-time.ts';

const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const KEY: SigningKey = {
  algorithm: 'rsa-sha256',
  domain: 'sender.example',
  selector: 's1',
  privateKey,
};
const SEAL = { results: 'mx.sender.example; spf=pass', chain: 'none' as const };
const AT = Date.UTC(2026, 10, 28);
const CAME = { helo: 'mx.example', client: '192.0.2.1', by: 'mx.sender.example', protocol: 'ESMTP' };

const forwarded = (raw: string, seal: typeof SEAL | null = null): string =>
  forwardedMessage(
    Buffer.from(raw, 'latin1'),
    { token: 'a-token', seal },
    { id: 'em_1', acceptedAt: AT, came: CAME, keys: [KEY] },
  ).toString('latin1');

describe('a forwarded copy', () => {
  test.each([
    'X-SMTPAPI: {"to":["victim@elsewhere.example"]}',
    'x-msys-api: {"options":{}}',
    'X-Mailgun-Variables \r\n : a',
    'X-MC-BccAddress: victim@elsewhere.example',
    'X-Svc-Tag: campaign:other',
  ])('has no field that gives a server orders: %j', (order) => {
    const copy = forwarded(
      `From: a@customer.example\r\n${order}\r\nSubject: Hi\r\n\r\nX-SMTPAPI: text`,
      SEAL,
    );
    expect(copy).not.toContain(order);
    expect(copy).toEndWith('From: a@customer.example\r\nSubject: Hi\r\n\r\nX-SMTPAPI: text');
  });

  test.each([
    'Authentication-Results: mx.sender.example; dmarc=pass header.from=bank.test',
    'authentication-results : (a (b\\) c)) MX.Sender.Example 1;\r\n dkim=pass',
    'Authentication-Results:\r\n "mx.sender\\.example"; spf=pass',
    'Authentication-Results: mx.sender.example.;none',
  ])('has no result in the name of this server: %j', (result) => {
    const copy = forwarded(`From: a@customer.example\r\n${result}\r\nSubject: Hi\r\n\r\nHello`, SEAL);
    expect(copy).not.toContain(result);
    expect(copy).toEndWith('From: a@customer.example\r\nSubject: Hi\r\n\r\nHello');
    expect(copy).toContain(SEAL.results);
  });

  test.each([
    'Authentication-Results: mx.customer.example; spf=pass (mx.sender.example)',
    'Authentication-Results: (mx.sender.example) other.example; spf=pass',
    'Authentication-Results: mx.sender.example.elsewhere.example; none',
  ])('keeps the results of other servers: %j', (result) => {
    expect(forwarded(`${result}\r\nSubject: Hi\r\n\r\nHello`)).toContain(result);
  });

  test('costs no more for results that a stranger has filled', () => {
    for (const filling of ['('.repeat(250_000), ' '.repeat(250_000), `"${'\\a'.repeat(120_000)}`])
      expect(costMs(() => forwarded(`Authentication-Results: ${filling}\r\n\r\nHello`))).toBeLessThan(200);
  });

  test('keeps the tokens of those that have forwarded it before, and every other octet', () => {
    const raw = 'X-Svc-Forwarded: theirs\r\nX-Own:  a \r\n\tb\r\n\r\nHello \r\n';
    const copy = forwarded(raw);
    expect(copy).toEndWith(`X-Svc-Forwarded: a-token\r\n${raw}`);
  });

  test.each([' folded', '\tfolded\r\n further'])('does not let %j continue a field that is added', (line) => {
    const copy = forwarded(`${line}\r\nFrom: a@customer.example\r\n\r\nHello`);
    expect(copy).toEndWith('X-Svc-Forwarded: a-token\r\nFrom: a@customer.example\r\n\r\nHello');
  });
});

describe('the seal of a forwarded copy', () => {
  const arcOf = (fields: string): Buffer =>
    arcSet(Buffer.from(`${fields}From: a@customer.example\r\n\r\nHi`), [KEY], {
      ...SEAL,
      chain: 'pass',
      at: AT,
    });
  const set = (i: number, more = ''): string =>
    ['ARC-Seal', 'ARC-Message-Signature', 'ARC-Authentication-Results']
      .map((name) => `${name}: ${more}I = ${i}; cv=none\r\n`)
      .join('');

  test('costs no more for a field that a stranger has filled', () => {
    arcOf(set(1));
    for (const filling of ['a;'.repeat(120_000), ' '.repeat(250_000), 'i '.repeat(120_000)])
      expect(costMs(() => expect(arcOf(`ARC-Seal: ${filling}\r\n`)).toBeEmpty())).toBeLessThan(100);
  });

  test('finds the instance wherever it is among the tags, up to 8 KiB of a field', () => {
    const filling = (octets: number) => `x=${'y'.repeat(octets)}; `;
    expect(arcOf(set(1, 'd=a.example;\r\n ')).toString()).toContain('i=2');
    const around = 'ARC-Authentication-Results: x=; I = 1; cv=none'.length;
    expect(arcOf(set(1, filling(8_192 - around))).toString()).toContain('i=2');
    expect(arcOf(set(1, filling(8_193 - around)))).toBeEmpty();
  });

  test('ends with fifty sets', () => {
    const sets = (count: number) => Array.from({ length: count }, (_, at) => set(at + 1)).join('');
    expect(arcOf(sets(49)).toString()).toContain('i=50');
    expect(arcOf(sets(50))).toBeEmpty();
  });
});

test('all targets of a forward get one copy, sealed once, and another email gets another', () => {
  const octets = Buffer.from('From: a@customer.example\r\n\r\nHello');
  const forward = { token: 'a-token', seal: SEAL };
  const raw = {
    octets,
    index: { headers: [], attachments: [], html: 'no html' as const, came: CAME, forward },
  };
  const copyOf = (emailId: string) => forwardedParts(raw, { emailId, dkim: [KEY] }).written?.composed;
  const [one, other] = ['em_01m8j582r7c89egjswzsjyha', 'em_01m8j582r7c89egjswzsjyhb'];
  const first = copyOf(one);
  expect(first?.toString()).toContain('ARC-Seal: i=1');
  expect(copyOf(one)).toBe(first as never);
  expect(copyOf(other)).not.toBe(first as never);
  expect(copyOf(other)?.toString()).toContain(other);
});
