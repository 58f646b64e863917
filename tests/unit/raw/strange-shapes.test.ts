import { describe, expect, test } from 'bun:test';
import { readFile } from '../../../src/mail/raw/read-raw.ts';
import { readReceived } from '../../../src/mail/received/received-mail.ts';

const message = (lines: readonly string[], end = '\r\n'): Buffer => Buffer.from(lines.join(end) + end);
const HEADER = [
  'From: a@shop.example',
  'To: b@reader.example',
  'Subject: Hello',
  'Message-ID: <1@shop.example>',
];

describe('a header that runs into its text', () => {
  for (const [name, end] of [
    ['CRLF', '\r\n'],
    ['LF', '\n'],
  ] as const)
    test(`is shown with the text, in lines of ${name}`, async () => {
      const mail = await readReceived(message([...HEADER, 'Hello Bob,', 'See you.', '', 'Ann'], end));
      expect([mail.subject, mail.from?.address, mail.text]).toEqual([
        'Hello',
        'a@shop.example',
        'Hello Bob,\nSee you.\n\nAnn\n',
      ]);
    });

  test('and nothing behind it', async () => {
    const mail = await readReceived(message([...HEADER, 'One line of a script']));
    expect(mail.text).toBe('One line of a script\n');
  });

  test('and an address with a colon in the text', async () => {
    const mail = await readReceived(message([...HEADER, 'Backup is done', 'Host: db1', 'Size: 3 GiB']));
    expect(mail.text).toBe('Backup is done\nHost: db1\nSize: 3 GiB\n');
  });

  test('is none where a server wrote a line that is no field', async () => {
    for (const further of ['X-Spam-Score: 1', 'Received: from a by b', 'Content-Type: text/plain']) {
      const mail = await readReceived(message([...HEADER, 'scanned by gate', further, '', 'The text']));
      expect([further, mail.subject, mail.text]).toEqual([further, 'Hello', 'The text\n']);
    }
    const late = await readReceived(
      message(['From: a@shop.example', 'scanned', 'Subject: Late', '', 'The text']),
    );
    expect([late.subject, late.text]).toEqual(['Late', 'The text\n']);
  });
});

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
