import { describe, expect, test } from 'bun:test';
import { createHash, generateKeyPairSync } from 'node:crypto';
import { dkimVerify } from 'mailauth/lib/dkim/verify.js';
import { finishMessage } from '../../../src/mail/compose/finish.ts';
import { readMessage, relaxedBody, relaxedHash } from '../../../src/mail/dkim/canonical.ts';
import { dkimDnsValue, generateDkimKey } from '../../../src/mail/dkim/key-pair.ts';
import { signaturesOf, signMessage } from '../../../src/mail/dkim/sign.ts';
import { loadSigningKey, type SigningKey, UnusableKey } from '../../../src/mail/dkim/signing-key.ts';
import { randomFrom } from '../../../src/ops/torture/random.ts';
import { aMessage, field, headerOf } from './a-message.ts';

const rsa = await generateDkimKey('rsa-sha256');
const ed = await generateDkimKey('ed25519-sha256');
const keys: readonly SigningKey[] = [
  loadSigningKey({ domain: 'sender.example', selector: 'r1', pem: rsa.privateKey }),
  loadSigningKey({ domain: 'sender.example', selector: 'e1', pem: ed.privateKey }),
];
const published: Record<string, string> = {
  'r1._domainkey.sender.example': rsa.dnsValue,
  'e1._domainkey.sender.example': ed.dnsValue,
};

/** The verdict of mailauth on each signature, the keys coming from `published` alone. */
const verdicts = async (raw: Buffer): Promise<string[]> => {
  const { results } = await dkimVerify(raw, {
    resolver: async (name: string, type: string) => {
      const value = published[name];
      if (type !== 'TXT' || value === undefined) throw Object.assign(new Error(name), { code: 'ENOTFOUND' });
      return [value.match(/.{1,255}/g) ?? []];
    },
  });
  return results.map(({ algo, status }) => `${algo} ${status.result}`);
};

const everything = aMessage({
  html: '<p>Hello  there </p>  \n\n\n',
  cc: [{ name: 'Cé', address: 'c@receiver.example' }],
  replyTo: [{ name: null, address: 'answers@sender.example' }],
  headers: [{ name: 'In-Reply-To', value: '<previous@sender.example>' }],
  attachments: [{ filename: 'a.bin', content: new Uint8Array(100_000), contentType: null, contentId: null }],
  unsubscribe: { url: `https://t.sender.example/u/${'k'.repeat(90)}`, mailto: null },
  dkim: keys,
});

describe('DKIM signatures (RSA and Ed25519) verify', () => {
  const bodies = {
    none: '',
    spaces: ' \t \n \n',
    trailing: 'a\n\n\n',
    plain: 'a',
    tabs: 'a\t\tb \t\n  c  \n',
  };
  for (const [name, text] of Object.entries(bodies))
    test(`over a body of ${name}`, async () => {
      expect(await verdicts(await finishMessage(aMessage({ text, dkim: keys })))).toEqual([
        'rsa-sha256 pass',
        'ed25519-sha256 pass',
      ]);
    });

  test('over every field there is', async () => {
    const raw = await finishMessage(everything);
    expect(await verdicts(raw)).toEqual(['rsa-sha256 pass', 'ed25519-sha256 pass']);
    const signed = /h=([^;]+);/
      .exec(field(raw, 'DKIM-Signature') ?? '')?.[1]
      ?.replace(/\s/g, '')
      .split(':')
      .sort();
    expect(signed).toEqual(
      [
        'from',
        'from',
        'to',
        'cc',
        'subject',
        'date',
        'message-id',
        'reply-to',
        'in-reply-to',
        'mime-version',
        'content-type',
        'list-unsubscribe',
        'list-unsubscribe-post',
      ].sort(),
    );
  });

  test('after a relay has folded fields and padded lines', async () => {
    const raw = (await finishMessage(everything)).toString('latin1');
    const relayed = raw
      .replace('Subject: Your receipt', 'SUBJECT:  Your\r\n   receipt ')
      .replace('Thank you', 'Thank \t you');
    expect(relayed).not.toBe(raw);
    expect(await verdicts(Buffer.from(relayed, 'latin1'))).toEqual([
      'rsa-sha256 pass',
      'ed25519-sha256 pass',
    ]);
  });
});

describe('DKIM signatures (RSA and Ed25519) fail', () => {
  const tampering: Record<string, (raw: string) => string> = {
    'when the body changes': (raw) => raw.replace('Thank you', 'Pay me'),
    'when the subject changes': (raw) => raw.replace('Your receipt', 'Your invoice'),
    'when the unsubscribe address changes': (raw) => raw.replace('t.sender.example', 't.evil.example'),
    'when a second From appears': (raw) => raw.replace('Subject:', 'From: eve@evil.example\r\nSubject:'),
  };
  for (const [name, tamper] of Object.entries(tampering))
    test(name, async () => {
      const raw = (await finishMessage(everything)).toString('latin1');
      const found = await verdicts(Buffer.from(tamper(raw), 'latin1'));
      expect(found.length).toBe(2);
      expect(found.filter((verdict) => verdict.endsWith('pass'))).toEqual([]);
    });
});

test('a DKIM signature is the same in every attempt, and its lines are short', async () => {
  const raw = await finishMessage(everything);
  expect(await finishMessage({ ...everything, attempt: 2 })).toEqual(raw);
  const head = headerOf(raw)
    .split(/\r\n(?![ \t])/)
    .filter((line) => line.startsWith('DKIM-'))
    .join('\r\n');
  expect(Math.max(...head.split('\r\n').map((line) => line.length))).toBeLessThanOrEqual(78);
});

test('a message without DKIM keys is not signed', async () => {
  expect(field(await finishMessage(aMessage()), 'DKIM-Signature')).toBeUndefined();
});

describe('a DKIM key that cannot sign', () => {
  const damaged = rsa.privateKey.replace(/\n(.{20})/, '\nAAAAAAAAAAAAAAAAAAAA');
  const bad = {
    'that is no PEM': 'secret',
    'that is damaged': damaged,
    'of another kind': generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({
      type: 'pkcs8',
      format: 'pem',
    }) as string,
    'that is too short': generateKeyPairSync('rsa', { modulusLength: 512 }).privateKey.export({
      type: 'pkcs8',
      format: 'pem',
    }) as string,
  };
  for (const [name, pem] of Object.entries(bad))
    test(`${name} is refused when it is loaded`, () => {
      const load = () => loadSigningKey({ domain: 'sender.example', selector: 'x', pem });
      expect(load).toThrow(UnusableKey);
    });

  test('never lets a message through unsigned', async () => {
    const publicHalf = { ...(keys[0] as SigningKey), privateKey: generateKeyPairSync('x25519').privateKey };
    expect(
      await signMessage(Buffer.from('From: a@b.example\r\n\r\n'), [publicHalf], 0).catch(() => 'rejected'),
    ).toBe('rejected');
  });
});

test('the published DKIM record belongs to the private key', () => {
  expect(dkimDnsValue(rsa.privateKey)).toBe(rsa.dnsValue);
  expect(rsa.dnsValue).toMatch(/^v=DKIM1; k=rsa; p=MIIBIjAN[A-Za-z0-9+/]+=*$/);
  expect(Buffer.from(ed.dnsValue.replace(/^v=DKIM1; k=ed25519; p=/, ''), 'base64').length).toBe(32);
});

test('DKIM canonicalises an empty body as RFC 6376 3.4.4 says', () => {
  expect(relaxedBody(Buffer.from('\r\n\r\n')).toString()).toBe('');
  expect(relaxedBody(Buffer.from(' \r\n\t\r\n')).toString()).toBe('');
  expect(relaxedBody(Buffer.from(' C \r\nD \t E\r\n\r\n\r\n')).toString()).toBe(' C\r\nD E\r\n');
});

/** RFC 6376 3.4.4 as it is written, over the whole body. */
const asWritten = (body: Buffer): Buffer => {
  const text = body
    .toString('latin1')
    .replace(/[ \t]+/g, ' ')
    .replace(/ (?=\r\n|$)/g, '')
    .replace(/(?:\r\n)+$/, '');
  return Buffer.from(text === '' ? '' : `${text}\r\n`, 'latin1');
};

test('a body has one canonical form, whatever its size and wherever its white space is', () => {
  const random = randomFrom(37);
  const parts = [
    '\r\n',
    '\r\n',
    ' ',
    '\t',
    '  ',
    'a',
    'word',
    '=20',
    '\u00e9',
    '.',
    '\n',
    '\r',
    'x'.repeat(70),
  ];
  for (let round = 0; round < 400; round++) {
    const some = Array.from({ length: random.between(1, 40) }, () => random.pick(parts));
    const times = round % 8 === 0 ? Math.ceil(150_000 / Math.max(1, some.join('').length)) : 1;
    const tail = ['', ' \r\n \t\r\n', '\r\n\r\n', ' ', '\t\r'][round % 5] ?? '';
    const body = Buffer.from(some.join('').repeat(times) + tail, 'latin1');
    const expected = asWritten(body);
    expect(relaxedBody(body).equals(expected)).toBe(true);
    expect(relaxedHash(body)).toBe(createHash('sha256').update(expected).digest('base64'));
  }
});

test('a message is signed the same, wherever the octets behind its header lie', async () => {
  const head = 'From: a@sender.example\r\nSubject: Hello\r\n';
  for (const [composed, behind] of [
    [head, '\r\nHello\r\n'],
    [head, '\r\n'],
    [head, ''],
    [`${head}\r\n`, 'Hello\r\n'],
    [head.slice(0, -2), '\r\n\r\nHello\r\n'],
  ] as const) {
    const whole = { composed: Buffer.from(composed + behind) };
    const parts = { composed: Buffer.from(composed), behind: Buffer.from(behind) };
    const { fields, body } = readMessage(parts);
    expect({ fields, body: body.toString() }).toEqual({
      fields: readMessage(whole).fields,
      body: readMessage(whole).body.toString(),
    });
    expect(await signaturesOf(parts, keys, 0)).toEqual(await signaturesOf(whole, keys, 0));
  }
});
