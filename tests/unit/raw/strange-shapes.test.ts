import { describe, expect, test } from 'bun:test';
import { readFile } from '../../../src/mail/raw/read-raw.ts';
import { uudecoded } from '../../../src/mail/raw/uuencode.ts';
import { readReceived } from '../../../src/mail/received/received-mail.ts';
import { costMs } from '../../support/own-time.ts';

const message = (lines: readonly string[], end = '\r\n'): Buffer => Buffer.from(lines.join(end) + end);
const HEADER = [
  'From: a@shop.example',
  'To: b@reader.example',
  'Subject: Hello',
  'Message-ID: <1@shop.example>',
];

// Python's binascii writes these lines.
const CAT = 'begin 644 cat.txt\r\n#0V%T\r\n`\r\nend';
const UMLAUT = 'begin 644 a.txt\r\n(1W+#O,.?= H \r\n \r\nend';

describe('uuencode', () => {
  test.each(['x-uuencode', 'uuencode', 'X-UUE', 'x-uuencoded'])(
    'of a file is decoded: %s',
    async (encoding) => {
      const raw = message([
        ...HEADER,
        'Content-Type: multipart/mixed; boundary=b',
        '',
        '--b',
        'Content-Type: text/plain',
        '',
        'See it',
        '--b',
        'Content-Type: text/plain; name="cat.txt"',
        `Content-Transfer-Encoding: ${encoding}`,
        'Content-Disposition: attachment; filename="cat.txt"',
        '',
        CAT,
        '--b--',
      ]);
      const mail = await readReceived(raw);
      expect([mail.text?.trim(), mail.attachments.map(({ filename, size }) => [filename, size])]).toEqual([
        'See it',
        [['cat.txt', 3]],
      ]);
      expect(Buffer.from((await readFile(raw, 0))?.octets ?? []).toString()).toBe('Cat');
    },
  );

  test('of a text is shown as its text', async () => {
    const raw = message([
      ...HEADER,
      'Content-Type: text/plain; charset=utf-8',
      'Content-Transfer-Encoding: x-uuencode',
      '',
      UMLAUT,
    ]);
    expect((await readReceived(raw)).text?.trim()).toBe('Grüßt');
  });

  test('behind words of a text stays as it is', async () => {
    const raw = message([
      ...HEADER,
      'Content-Type: text/plain',
      'Content-Transfer-Encoding: x-uuencode',
      '',
      'See the file.',
      CAT,
    ]);
    expect((await readReceived(raw)).text).toStartWith('See the file.\nbegin 644');
  });

  test('ends where it says so, or where its content does', () => {
    const decoded = (lines: readonly string[]) => uudecoded(message(lines))?.toString();
    expect(decoded(['begin 644 cat.txt', '#0V%T', 'end', '#0V%T'])).toBe('Cat');
    expect(decoded(['', 'begin 644 cat.txt', '#0V%T'])).toBe('Cat');
    expect(decoded(['begin 644 cat.txt', '_'])).toHaveLength('_\r\n'.length);
    expect(decoded(['Cat'])).toBeUndefined();
  });

  test('of short lines that promise long ones costs little time', () => {
    const lines = message(['begin 644 x', '_\r\n'.repeat(2_000_000)]);
    expect(costMs(() => uudecoded(lines))).toBeLessThan(1_000);
  });

  test('that cannot be read stays as it is', async () => {
    for (const body of ['no file', 'begin 644 x\r\nÿÿ', 'begin 644 x\r\n_']) {
      const raw = message([...HEADER, 'Content-Transfer-Encoding: x-uuencode', '', body]);
      expect((await readReceived(raw)).subject).toBe('Hello');
    }
  });
});

// Go's mime.QEncoding of the whole value, as Alertmanager writes it.
describe('mailboxes of which the addresses are encoded too', () => {
  const read = async (from: string, to = 'b@reader.example') => {
    const mail = await readReceived(
      message([`From: ${from}`, `To: ${to}`, 'Subject: Alert', '', 'Disk full']),
    );
    return [mail.from, ...mail.to].map((one) => `${one?.name ?? ''} <${one?.address}>`);
  };

  test('have their names and addresses', async () => {
    expect(
      await read(
        '=?utf-8?q?W=C3=A4chter_<alerts@shop.example>?=',
        '=?utf-8?q?B=C3=BCro_<ann@shop.example>,_ben@shop.example?=',
      ),
    ).toEqual(['Wächter <alerts@shop.example>', 'Büro <ann@shop.example>', ' <ben@shop.example>']);
    expect(
      await read(
        '=?utf-8?q?W=C3=A4chter_?=\r\n =?utf-8?q?<alerts@shop.example>?=',
        '=?UTF-8?Q?=C3=84_<a@x.example>?=',
      ),
    ).toEqual(['Wächter <alerts@shop.example>', 'Ä <a@x.example>']);
  });

  test('are left as they are where a word holds a line end', async () => {
    expect(await read('=?utf-8?q?A_<a@shop.example>=0D=0AX:_y?=')).toHaveLength(2);
  });
});
