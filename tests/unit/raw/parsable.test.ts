import { describe, expect, test } from 'bun:test';
import { NotSubmittable } from '../../../src/mail/raw/raw-mail.ts';
import { readRaw } from '../../../src/mail/raw/read-raw.ts';
import { parsable } from '../../../src/mail/raw/repair/parsable.ts';
import { readParts } from '../../../src/mail/reading/mail-parts.ts';
import { readReceived } from '../../../src/mail/received/received-mail.ts';
import { readSubmission } from '../../../src/mail/submission/submitted.ts';
import { costMs } from '../../support/own-time.ts';

// Old and simple mail programs cut a text into pieces of octets and encode each: a letter begins in one word
// and ends in the next.

const SUBJECT = 'Ihre Rechnung über 120 € von Zoë: 今日は';

/** The text in words of so many octets each. */
const words = (text: string, octets: number, charset = 'utf-8', fold = '\r\n '): string => {
  const all = Buffer.from(text);
  return Array.from(
    { length: Math.ceil(all.length / octets) },
    (_, at) => `=?${charset}?B?${all.subarray(at * octets, (at + 1) * octets).toString('base64')}?=`,
  ).join(fold);
};

const message = (subject: string): Buffer =>
  Buffer.from(
    `From: ${words('Zoë', 3)} <zoe@acme.example>\r\nTo: bob@example.net\r\nSubject: ${subject}\r\n` +
      `Message-ID: <a@acme.example>\r\nDate: Sun, 29 Nov 2026 01:00:00 +0000\r\n\r\n=?utf-8?B?4oI=?= =?utf-8?B?rA==?=\r\n`,
  );

const quoted = (body: string, type = 'text/plain') =>
  Buffer.from(
    `From: a@acme.example\r\nTo: b@example.net\r\nSubject: s\r\nMIME-Version: 1.0\r\nContent-Type: ${type}; charset=utf-8\r\n` +
      `Content-Transfer-Encoding: quoted-printable\r\n\r\n${body}\r\n`,
  );

test('white space behind a soft line break was added on the way', async () => {
  for (const added of [' ', '\t', '  \t ']) {
    const raw = quoted(`one=${added}\r\n two =3D 2${added}\nthree`);
    const { text } = await readReceived(raw);
    expect(text?.trim()).toBe(`one two = 2${added}\nthree`);
    const submitted = await readRaw(raw);
    if (submitted instanceof NotSubmittable) throw submitted;
    expect(submitted.text?.startsWith('one two')).toBeTrue();
  }
  const html = await readReceived(quoted('<p>one= \r\ntwo</p>', 'text/html'));
  expect(html.html?.trim()).toBe('<p>onetwo</p>');
  // In other encodings an equals sign is one.
  const plain = quoted('a = \r\nb').toString().replace('quoted-printable', '7bit');
  expect((await readReceived(Buffer.from(plain))).text?.trim()).toBe('a = \nb');
});

// Emacs and Thunderbird encode the line ends of SMTP with a text.
test('a text in base64 has the line ends of any other', async () => {
  const text = Buffer.from('Grüße\r\n\r\nShop\r\n').toString('base64');
  for (const type of ['text/plain', 'text/html']) {
    const whole = `From: a@acme.example\r\nContent-Type: ${type}; charset=utf-8\r\nContent-Transfer-Encoding: base64\r\n\r\n${text}\r\n`;
    const read = await readRaw(Buffer.from(whole));
    const received = await readReceived(Buffer.from(whole));
    const shown = read instanceof NotSubmittable ? null : (read.html ?? read.text);
    expect([shown, received.html ?? received.text]).toEqual(['Grüße\n\nShop\n', 'Grüße\n\nShop\n']);
  }
});

describe('words that share a letter', () => {
  test.each([1, 2, 4, 5, 7, 10, 28, 40])('of %d octets are read as one text, everywhere', async (octets) => {
    const raw = message(words(SUBJECT, octets));
    const received = await readReceived(raw);
    expect([received.subject, received.from?.name]).toEqual([SUBJECT, 'Zoë']);
    // Text outside the header is no header.
    expect(received.text?.trim()).toBe('=?utf-8?B?4oI=?= =?utf-8?B?rA==?=');
    const submitted = await readRaw(raw);
    if (submitted instanceof NotSubmittable) throw submitted;
    expect([submitted.subject, submitted.from[0]?.name]).toEqual([SUBJECT, 'Zoë']);
    expect(raw.equals(submitted.octets)).toBeTrue();
    expect(await readSubmission(raw, ['bob@example.net'])).toMatchObject({
      email: { subject: SUBJECT },
    });
    expect((await readParts(raw))?.headers.find(({ name }) => name === 'Subject')?.value).not.toContain(
      '\uFFFD',
    );
  });

  test('of other charsets and on one line are joined as well, those of different ones stay apart', () => {
    const subjectOf = (subject: string) =>
      /Subject: ([^\r]*)/.exec(parsable(message(subject)).toString('latin1'))?.[1];
    const euro = [Buffer.from([0xe2, 0x82]).toString('base64'), Buffer.from([0xac]).toString('base64')];
    expect(subjectOf(`=?UTF-8?b?${euro[0]}?= =?utf-8?B?${euro[1]}?=`)).toBe('=?UTF-8?B?4oKs?=');
    expect(subjectOf('=?utf-8?B?YQ==?= =?iso-8859-1?B?6Q==?=')).toBe(
      '=?utf-8?B?YQ==?= =?iso-8859-1?B?6Q==?=',
    );
  });

  test('a header without them is handed on as it is', () => {
    for (const subject of [
      'Hello',
      '=?utf-8?B?4oKs?=',
      '=?utf-8?Q?=E2=82?= =?utf-8?Q?=AC?=',
      '=?utf-8?B?YQ==?= b',
    ]) {
      const raw = message(subject)
        .toString('latin1')
        .replace(/^From:.*\r\n.*\r\n/, 'From: a@b.example\r\n');
      const octets = Buffer.from(raw, 'latin1');
      expect(parsable(octets)).toBe(octets);
    }
  });

  test.each([
    ['words', (n: number) => '=?u?b?YQ==?= '.repeat(n)],
    ['beginnings', (n: number) => '=?u?b?'.repeat(n)],
    ['white space', (n: number) => `=?u?b?YQ==?=${' '.repeat(n * 10)}`],
    [
      'soft breaks',
      (n: number) => `s\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n${'= '.repeat(n * 10)}`,
    ],
    ['paddings', (n: number) => `=?u?b?${'='.repeat(n * 10)}`],
  ])('a header of %s alone costs no more than its length', async (_, of) => {
    const cost = (n: number) => {
      const raw = Buffer.from(`Subject: ${of(n)}\r\n\r\n`);
      return costMs(() => parsable(raw));
    };
    expect(await cost(20_000)).toBeLessThan(200);
  });
});

describe('letters of UTF-8 in a text that says US-ASCII', () => {
  const PRICE = 'Größe: 5 €';
  const said = (charset: string, encoding: string, content: Buffer) =>
    Buffer.concat([
      Buffer.from(
        `Content-Type: text/plain; charset=${charset}\r\nContent-Transfer-Encoding: ${encoding}\r\n\r\n`,
        'latin1',
      ),
      content,
    ]);
  const textOf = async (raw: Buffer) => (await readParts(raw))?.text?.trim();

  test.each([
    ['us-ascii', '8bit', Buffer.from(PRICE)],
    ['"US-ASCII"', '8bit', Buffer.from(PRICE)],
    ['US-Ascii', '8bit', Buffer.from(PRICE)],
    ['us-ascii; name="charset=us-ascii"', '8bit', Buffer.from(PRICE)],
    ['ascii', 'base64', Buffer.from(Buffer.from(PRICE).toString('base64'))],
    ['us-ascii', 'quoted-printable', Buffer.from('Gr=C3=B6=C3=9Fe: 5 =E2=82=AC')],
  ])('are shown as they were meant: %s, %s', async (charset, encoding, content) => {
    expect(await textOf(said(charset, encoding, content))).toBe(PRICE);
  });

  test('a part of several is read so, and the others stay', async () => {
    const part = said('us-ascii', '8bit', Buffer.from(PRICE)).toString('latin1');
    const other = said('iso-8859-1', '8bit', Buffer.from('Gr\xf6\xdfe', 'latin1')).toString('latin1');
    const raw = `Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n${part}\r\n--b\r\n${other}\r\n--b--\r\n`;
    expect((await textOf(Buffer.from(raw, 'latin1')))?.split(/\s*\n\s*/)).toEqual([PRICE, 'Größe']);
  });

  test('no other field is changed that says the same, and no other parameter', async () => {
    const from = 'From: eve@charset=ascii.attacker.test\r\nSubject: charset=us-ascii is wrong\r\n';
    const typed = 'Content-Type: text/plain; name="; charset=us-ascii";\r\n charset=us-ascii\r\n';
    const raw = Buffer.from(`${from}${typed}Content-Transfer-Encoding: 8bit\r\n\r\n${PRICE}`);
    const { from: sender, subject, text } = await readReceived(raw);
    expect([sender?.address, subject, text?.trim()]).toEqual([
      'eve@charset=ascii.attacker.test',
      'charset=us-ascii is wrong',
      PRICE,
    ]);
    expect(parsable(raw).toString()).toContain(`${from}Content-Type: text/plain; charset=utf-8\r\n`);
  });

  test('octets that are no UTF-8 stay Windows-1252, and a message in US-ASCII is handed on as it is', async () => {
    expect(await textOf(said('us-ascii', '8bit', Buffer.from('5 \x80', 'latin1')))).toBe('5 €');
    const plain = said('us-ascii', '7bit', Buffer.from('Hello'));
    expect(parsable(plain)).toBe(plain);
  });
});

describe('a message that says it has parts, and has no delimiter of them', () => {
  const typed = 'Content-Type: multipart/alternative;\r\n boundary="Apple-Mail=_DDA"\r\n';

  // Reported of libetpan (384), which read beyond the message.
  test.each([
    ['a text', 'Größe 5\r\n\r\n-- \r\nAda\r\n', 'Größe 5\n\n-- \nAda\n'],
    ['nothing', '', null],
  ])('is a plain text: %s', async (_, body, text) => {
    const raw = Buffer.from(`Subject: x\r\n${typed}MIME-Version: 1.0\r\n\r\n${body}`);
    const read = await readReceived(raw);
    expect([read.subject, read.text || null, read.html]).toEqual(['x', text, null]);
  });

  test('keeps its parts where it has the delimiter, and is handed on as it is', () => {
    const raw = Buffer.from(`${typed}\r\n--Apple-Mail=_DDA\r\n\r\nHello\r\n`);
    expect(parsable(raw)).toBe(raw);
  });
});
