import { describe, expect, test } from 'bun:test';
import { accepted, misshapen, places } from './a-send-request.ts';

describe('custom headers of a send request', () => {
  test.each([
    'From',
    'TO',
    'cc',
    'Bcc',
    'Subject',
    'Reply-To',
    'date',
    'Message-ID',
    'MIME-Version',
    'Content-Type',
    'content-transfer-encoding',
    'DKIM-Signature',
    'Received',
    'Return-Path',
    'Sender',
    'X-Svc-Anything',
    'Resent-Bcc',
    'ARC-Seal',
    'X-SES-CONFIGURATION-SET',
    'X-SMTPAPI',
    'X-MC-BccAddress',
    'X-Mailgun-Recipient-Variables',
    'X-MSYS-API',
    'X-PM-Message-Stream',
    'X-Postmark-Server-Token',
    'X-MJ-TemplateID',
    'X-Mailjet-Campaign',
    'X-Mailin-Custom',
    'X-Sib-Sandbox',
    'X-MT-Category',
    'Authentication-Results',
  ])('%s is not the client’s to set', (name) => {
    expect(places({ headers: { [name]: 'x' } })).toEqual([`/body/headers/${name}`]);
  });

  test.each(['', ' ', 'a b', 'a:b', 'a:', 'X-Ä', 'a\tb', 'a\r\nBcc', 'a\n', 'x'.repeat(77)])(
    'none is called %j',
    (name) => {
      expect(places({ headers: { [name]: 'x' } })).toEqual(['/body/headers']);
    },
  );

  test.each([
    'a\r\nBcc: evil@x.co',
    'a\n b',
    'a\rb',
    'a\0b',
    '',
    ' ',
    'x'.repeat(900),
    'x '.repeat(2_049),
    'a\x08b',
  ])('none is %j', (value) => {
    expect(places({ headers: { 'X-A': value } })).toEqual(['/body/headers/X-A']);
  });

  test('are given once, in any case, and a pointer escapes what it must', () => {
    expect(places({ headers: { 'X-A': '1', 'x-a': '2' } })).toEqual(['/body/headers/x-a']);
    expect(places({ headers: { 'X~/': '' } })).toEqual(['/body/headers/X~0~1']);
  });

  test('may have any other name, and a value that can be folded', () => {
    // No member of a family is what only begins with the same letters.
    const names = ['X-Mailer', 'X-MCID', 'X-Priority', 'Contents', 'X-Mtime'];
    expect(accepted({ headers: Object.fromEntries(names.map((name) => [name, 'x'])) }).headers).toHaveLength(
      5,
    );
    const headers = { 'x-1': 'ü', "!#$%&'*+.^_`|~": 'x', 'X-Long': `${'x'.repeat(899)} y` };
    expect(accepted({ headers }).headers).toHaveLength(3);
    expect(accepted({ headers: JSON.parse('{"__proto__": "x"}') }).headers).toEqual([
      { name: '__proto__', value: 'x' },
    ]);
  });

  test('are 25 at most, and their values are text', () => {
    expect(
      misshapen({ headers: Object.fromEntries(Array.from({ length: 26 }, (_, i) => [`X-${i}`, 'x'])) }),
    ).toEqual(['/body/headers']);
    expect(misshapen({ headers: { 'X-A': 1 } })).toEqual(['/body/headers/X-A']);
    expect(misshapen({ headers: { 'X\nA': 1 } })).not.toEqual([]);
  });
});
