import { afterAll, describe, expect, test } from 'bun:test';
import { NotSubmittable, type RawMail } from '../../../src/mail/raw/raw-mail.ts';
import { createMailReader } from '../../../src/mail/reading/mail-reader.ts';
import { readReceived } from '../../../src/mail/received/received-mail.ts';
import { costMsOf } from '../../support/own-time.ts';

// Ordinary mail with many lines or parts: a dump of a database, a long log, a chain of forwarded messages.

const reader = createMailReader();
afterAll(() => reader.close());

const HEAD = [
  'From: =?utf-8?B?WsO2?= <zoe@customer.example>',
  'To: support@acme.example',
  'Cc: Bob <bob@acme.example>',
  'Reply-To: answers@customer.example',
  'Subject: =?utf-8?Q?Gr=C3=BC=C3=9Fe?=',
  'Date: Sun, 29 Nov 2026 18:00:00 +0000',
  'MIME-Version: 1.0',
  '',
].join('\r\n');
const FIELDS = {
  from: { name: 'Zö', address: 'zoe@customer.example' },
  to: [{ name: null, address: 'support@acme.example' }],
  cc: [{ name: 'Bob', address: 'bob@acme.example' }],
  replyTo: [{ name: null, address: 'answers@customer.example' }],
  subject: 'Grüße',
  date: '2026-11-29T18:00:00.000Z',
};
const TEXT = 'Content-Type: text/plain; charset=utf-8\r\n\r\nHello\r\n';
const withFile = (file: string, header = 'Content-Type: text/plain; charset=utf-8') =>
  `${HEAD}Content-Type: multipart/mixed; boundary=b1\r\n\r\n--b1\r\n${TEXT}--b1\r\n${header}\r\n` +
  `Content-Disposition: attachment; filename=d.txt\r\n\r\n${file}\r\n--b1--\r\n`;
const nested = (depth: number) =>
  `${HEAD}${Array.from({ length: depth }, (_, at) => `Content-Type: multipart/mixed; boundary=n${at}\r\n\r\n--n${at}\r\n`).join('')}${TEXT}`;
const ofParts = (count: number, part: (at: number) => string) =>
  `${HEAD}Content-Type: multipart/mixed; boundary=b1\r\n\r\n--b1\r\n${TEXT}${Array.from({ length: count }, (_, at) => `--b1\r\n${part(at)}\r\n`).join('')}--b1--\r\n`;
const named = (at: number) =>
  `Content-Type: application/pdf; name=f${at}.pdf\r\nContent-Disposition: attachment; filename=f${at}.pdf\r\n\r\nf${at}`;

const sent = async (message: string): Promise<RawMail> => {
  const mail = await reader.raw(Buffer.from(message), 'ws_1');
  if (mail instanceof NotSubmittable) throw new Error(mail.reason);
  return mail;
};
const received = (message: string) => reader.received(Buffer.from(message), 'ws_1');

describe('a message of many lines', () => {
  test('that begin with two hyphens is read', async () => {
    const dump = '-- a row of the dump\r\n'.repeat(12_000);
    const plain = `${HEAD}\r\n${dump}`;
    const { text } = await received(plain);
    expect(text).toBe(dump.replaceAll('\r\n', '\n'));
    expect(await received(plain)).toMatchObject(FIELDS);
    expect((await sent(plain)).text).toBe(text);
    const attached = await received(withFile(dump.trimEnd()));
    expect(attached).toMatchObject({ ...FIELDS, text: 'Hello\n', attachments: [{ filename: 'd.txt' }] });
    expect(attached.attachments[0]?.size).toBe(dump.length - 2);
    expect((await sent(withFile(dump))).index.attachments).toHaveLength(1);
    const shown = ofParts(1, () => `Content-Type: text/plain\r\n\r\n${dump}`);
    expect((await received(shown)).text).toContain('-- a row');
  });

  test.each([
    ['a log', 'Content-Type: text/x-log', 'x\r\n'],
    [
      'a file in quoted-printable',
      'Content-Type: text/x-log\r\nContent-Transfer-Encoding: quoted-printable',
      '=41\r\n',
    ],
  ])('in %s is read, and the file stays as it is', async (_kind, header, line) => {
    const message = withFile(line.repeat(1_100_000), header);
    const { attachments, ...mail } = await received(message);
    expect(mail).toMatchObject({ ...FIELDS, text: 'Hello\n' });
    expect(attachments).toMatchObject([{ filename: 'd.txt', size: 3_300_000 }]);
    const one = await reader.file(Buffer.from(message), 0, 'ws_1');
    expect(
      Buffer.from(one?.octets ?? [])
        .subarray(0, 6)
        .toString(),
    ).toBe(line === 'x\r\n' ? 'x\r\nx\r\n' : 'A\r\nA\r\n');
    const mailSent = await sent(message);
    expect(mailSent).toMatchObject({ subject: 'Grüße', text: 'Hello\n' });
    expect(Buffer.from(mailSent.octets).equals(Buffer.from(message))).toBe(true);
  });

  test('as its text is read', async () => {
    const { text, subject } = await received(`${HEAD}\r\n${'Zoë\r\n'.repeat(1_100_000)}`);
    expect([text?.startsWith('Zoë\nZoë\n'), subject]).toEqual([true, 'Grüße']);
  });
});

describe('a message of many parts', () => {
  test('lists its files', async () => {
    const message = ofParts(3_000, named);
    const { attachments, text, subject } = await received(message);
    expect([attachments.length, attachments[999]?.filename, text, subject]).toEqual([
      1_000,
      'f999.pdf',
      'Hello\n',
      'Grüße',
    ]);
    expect((await sent(message)).index.attachments).toHaveLength(3_000);
  });

  test.each([
    ['that are too many', () => ofParts(20_000, () => '\r\nx')],
    ['that are too deep', () => nested(60)],
    [
      'whose headers are too large',
      () => ofParts(300, (at) => `${`X-Long: ${'x '.repeat(400)}y\r\n`.repeat(10)}\r\n${at}`),
    ],
  ])('%s shows its fields and its first text, and is sent as it is', async (_kind, make) => {
    const mail = await received(make());
    expect(mail).toMatchObject({ ...FIELDS, attachments: [] });
    expect(mail.headers[0]).toEqual({ name: 'From', value: '=?utf-8?B?WsO2?= <zoe@customer.example>' });
    if (!make().includes('n50')) expect(mail.text).toBe('Hello\n');
    const message = await sent(make());
    expect(message).toMatchObject({ subject: 'Grüße', from: [FIELDS.from], to: FIELDS.to });
    expect(Buffer.from(message.octets).equals(Buffer.from(make()))).toBe(true);
  });

  test('is bounded in time, whatever it holds', async () => {
    const hostile = [
      ofParts(400_000, () => '\r\nx'),
      `${HEAD}\r\n${'\n'.repeat(20_000_000)}`,
      withFile('\n'.repeat(20_000_000)),
      `${HEAD}Content-Type: multipart/mixed; boundary=b1\r\n\r\n${'--b1\n'.repeat(4_000_000)}`,
      `${HEAD}Content-Type: multipart/mixed; boundary=b1\r\n\r\n--b1\r\n${'a:\n'.repeat(6_000_000)}\r\n`,
      `${HEAD}Content-Type: multipart/mixed; boundary*=''b%31\r\n\r\n${'--b1\r\n\r\nx\r\n'.repeat(1_500_000)}`,
    ];
    for (const message of hostile) {
      const raw = Buffer.from(message);
      expect(await costMsOf(() => readReceived(raw))).toBeLessThan(8_000);
      expect((await received(message)).subject).toBe('Grüße');
    }
  });
});

test('a letter that is cut between two encoded words of a file name is one letter', async () => {
  const words = '"=?utf-8?B?4oI=?= =?utf-8?B?rC50eHQ=?="';
  for (const field of [
    `Content-Type: application/pdf; name=${words}`,
    `Content-Type: application/pdf\r\nContent-Disposition: attachment;\r\n filename=${words.replace(' ', '\r\n ')}`,
  ]) {
    const message = ofParts(1, () => `${field}\r\n\r\nx`);
    expect((await received(message)).attachments).toMatchObject([{ filename: '€.txt' }]);
    expect((await sent(message)).index.attachments).toMatchObject([{ filename: '€.txt' }]);
  }
});
