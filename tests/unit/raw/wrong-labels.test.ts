import { describe, expect, test } from 'bun:test';
import { parsable } from '../../../src/mail/raw/repair/parsable.ts';
import { readReceived } from '../../../src/mail/received/received-mail.ts';
import { costMs } from '../../support/own-time.ts';

const GREETING = 'Grüße aus Köln';
const OF = { windows: GREETING, utf8: Buffer.from(GREETING).toString('latin1') };
const CP850 = 'Gr\x81\xe1e aus K\x94ln';

const message = (header: string, body: string): Buffer =>
  Buffer.from(
    `From: a@sender.example\r\nSubject: x\r\nMIME-Version: 1.0\r\n${header}\r\n\r\n${body}\r\n`,
    'latin1',
  );
const labelled = (label: string, content: string, type = 'text/plain'): Buffer =>
  message(`Content-Type: ${type}; charset="${label}"\r\nContent-Transfer-Encoding: 8bit`, content);
const textOf = async (raw: Buffer) => (await readReceived(raw)).text?.trim();

describe('a charset that is named wrong', () => {
  // Reported of mail-parser (74), Pelton (311), emailjs-mime-codec (8), Indy (677).
  test.each([
    '8bit',
    'ansi',
    'x-unknown',
    'unknown-8bit',
    'default',
    'none',
    '_charset_',
    'binary',
    'x-user-defined',
    "utf-8'",
  ])('%s holds UTF-8 where the octets can be that, else Windows-1252', async (label) => {
    expect(await textOf(labelled(label, OF.utf8))).toBe(GREETING);
    expect(await textOf(labelled(label, OF.windows))).toBe(GREETING);
  });

  test.each([
    ['utf8', OF.utf8, GREETING],
    ["'utf-8'", OF.utf8, GREETING],
    ['unicode', OF.utf8, GREETING],
    ['utf-16', 'Hello', 'Hello'],
    ['cp850', CP850, GREETING],
    ['ibm850', CP850, GREETING],
    ['x-cp850', CP850, GREETING],
    ['cp-850', CP850, GREETING],
    ['cp437', CP850, GREETING],
    ['iso-8859-8-i', '\xf9\xec\xe5\xed', 'שלום'],
    ['ks_c_5601-1987', '\xc7\xd1\xb1\xdb', '한글'],
    ['gb2312', '\xd6\xec\xe9F\xbb\xf9', '朱镕基'],
    ['big5_hkscs', '\xa7A\xa6n', '你好'],
    ['iso-8859-1', OF.windows, GREETING],
    ['utf-8', OF.windows, GREETING],
  ])('%s is read as programs mean it', async (label, content, text) => {
    expect(await textOf(labelled(label, content))).toBe(text);
  });

  test('a text without a name is UTF-8 or Windows-1252, and an html may name its own', async () => {
    expect(await textOf(message('X-Y: z', OF.utf8))).toBe(GREETING);
    expect(await textOf(message('X-Y: z', OF.windows))).toBe(GREETING);
    // Reported of mailparser (370).
    const meta = '<meta http-equiv="Content-Type" content="text/html; charset=windows-1251">';
    const { html } = await readReceived(message('Content-Type: text/html', `${meta}<p>\xcc\xe8\xf0</p>`));
    expect(html).toContain('<p>Мир</p>');
  });

  test('UTF-8 that was damaged on the way stays UTF-8', async () => {
    expect(await textOf(labelled('utf-8', `${OF.utf8} \xc3`))).toBe(`${GREETING} \ufffd`);
  });

  test('the fields of the message stay, and so does a file', async () => {
    const file = 'Content-Type: text/plain; charset=cp850\r\nContent-Disposition: attachment; filename=a.txt';
    const parts = `--b\r\nContent-Type: text/plain; charset=x-unknown\r\n\r\n${OF.utf8}\r\n--b\r\n${file}\r\n\r\n${CP850}\r\n--b--`;
    const raw = message('Content-Type: multipart/mixed, boundary=b', parts);
    const { text, headers, attachments } = await readReceived(raw);
    expect([text?.trim(), attachments.map(({ size }) => size)]).toEqual([GREETING, [CP850.length]]);
    expect(headers).toContainEqual({ name: 'Content-Type', value: 'multipart/mixed, boundary=b' });
  });

  test('in an encoded word, which may hold a piece of a letter where the name is known', async () => {
    const subjectOf = async (subject: string) =>
      (await readReceived(Buffer.from(`From: a@sender.example\r\nSubject: ${subject}\r\n\r\nx`))).subject;
    expect(await subjectOf('=?x-unknown?Q?Gr=C3=BC=C3=9Fe?=')).toBe('Grüße');
    expect(await subjectOf('=?cp850?B?R3KB4WU=?=')).toBe('Grüße');
    expect(await subjectOf('=?utf-8?Q?=E2=82?= =?utf-8?Q?=AC?=')).toBe('€');
  });
});

describe('the letters of a header', () => {
  // Reported of mailparser (351): octets that no encoded word holds.
  test.each([
    ['in the charset of the text', 'gbk', '\xd3\xca\xbc\xfe', '邮件'],
    ['in Windows-1252', 'iso-8859-1', OF.windows, GREETING],
    ['in Windows-1252 where the text says UTF-8', 'utf-8', OF.windows, GREETING],
    ['in UTF-8', 'iso-8859-1', OF.utf8, GREETING],
  ])('%s are read', async (_, charset, subject, text) => {
    const raw = `From: "J\xfcrgen" <a@sender.example>\r\nSubject: ${subject}\r\nContent-Type: text/plain; charset=${charset}\r\n\r\nx`;
    const read = await readReceived(Buffer.from(raw, 'latin1'));
    expect([read.subject, read.from?.address]).toEqual([text, 'a@sender.example']);
  });

  test.each(['utf-7', 'utf-16', 'utf-16le', 'utf-32', 'unicode', 'iso-2022-jp', 'ucs-2'])(
    'are read without changes to its fields where the text says %s',
    async (charset) => {
      const fields = 'X-A: \xff+AA0ACg-From: victim@bank.example\r\nFrom: Ren\xe9 <real@a.example>';
      const raw = `${fields}\r\nSubject: \xff12\r\n folded\r\nContent-Type: text/plain; charset=${charset}\r\n\r\nx`;
      const { from, headers, subject } = await readReceived(Buffer.from(raw, 'latin1'));
      expect([from, subject]).toEqual([{ name: 'René', address: 'real@a.example' }, 'ÿ12 folded']);
      expect(headers.map(({ name }) => name)).toEqual(['X-A', 'From', 'Subject', 'Content-Type']);
    },
  );

  // Reported of sisimai (315), and one of its bounces, in which Exchange 2007 cuts a word within a letter.
  test.each([
    ['return to ASCII', 'GyRCMnEbKEI=', 'GyRCRycbKEI=', '会認'],
    ['end in a letter', 'GyRCJUsl', 'YyE8JXMbKEI=', 'ニャーン'],
  ])('in words of a charset with states are one text: words that %s', async (_, first, second, text) => {
    const words = `=?ISO-2022-JP?B?${first}?=\r\n =?iso-2022-jp?B?${second}?=`;
    const { subject } = await readReceived(Buffer.from(`Subject: ${words}\r\n\r\nx`));
    expect(subject).toBe(text);
  });

  test('have the line ends of any other text', async () => {
    const raw = 'Content-Type: text/plain; charset=cp850\r\n\r\n\x81\r\nb';
    expect((await readReceived(Buffer.from(raw, 'latin1'))).text).toBe('ü\nb');
  });
});

describe('a Content-Type whose syntax is wrong', () => {
  // Reported of MimeKit (94), enmime (91), mail (412, 1253), mailparser (159), letterparser (17).
  test.each([
    'text/plain charset=utf-8',
    'text/plain charset="utf-8"',
    'text/plain\r\n charset=utf-8',
    'text/plain, charset=utf-8',
    'text/plain: charset=utf-8',
    'text/plain. charset=utf-8',
    'text / plain; charset=utf-8',
    '<text/plain>; charset=utf-8',
    'Content-Type: text/plain; charset=utf-8',
    'text/plain/; charset=utf-8',
    'text/plain; charset = "utf-8" Content-Transfer-Encoding: 8bit',
    'text/plain;; charset=utf-8;',
    'text; charset=utf-8',
    'text-plain; charset=utf-8',
    'plain',
    '; charset=utf-8',
    '',
  ])('%p is a text', async (type) => {
    const { text, attachments } = await readReceived(message(`Content-Type: ${type}`, OF.utf8));
    expect([text?.trim(), attachments]).toEqual([GREETING, []]);
  });

  test.each(['text/html charset=utf-8', 'html', 'text/ html; charset=utf-8'])(
    '%p is an html',
    async (type) => {
      const { html, attachments } = await readReceived(message(`Content-Type: ${type}`, `<p>${OF.utf8}</p>`));
      expect([html?.trim(), attachments]).toEqual([`<p>${GREETING}</p>`, []]);
    },
  );

  test.each([
    'multipart/mixed boundary="b c"',
    'multipart/mixed, boundary="b c"',
    'multipart/mixed; charset=utf-8 boundary="b c"',
    'multipart/mixed; boundary="b c";; charset="us-ascii"',
    'multipart; boundary="b c"',
  ])('%p has parts, of which a file stays one', async (type) => {
    const parts = `--b c\r\nContent-Type: text/plain charset=utf-8\r\n\r\n${OF.utf8}\r\n--b c\r\nContent-Type: pdf; name=a.pdf\r\n\r\n%PDF\r\n--b c--`;
    const { text, attachments } = await readReceived(message(`Content-Type: ${type}`, parts));
    expect([text?.trim(), attachments.map(({ filename }) => filename)]).toEqual([GREETING, ['a.pdf']]);
  });

  test.each([
    'text/plain;charset=utf-8',
    'text/plain',
    'multipart/mixed; boundary=b; charset=utf-8',
    'image/svg+xml',
    'multipart/mixed; boundary="a; b=c d=e"',
    'text/plain; name="a; b=c d=\\" e=f g=h"',
    `text/plain charset=utf-8; name="${'x'.repeat(4_096)}"; format=flowed`,
  ])('%p is right, and handed on as it is', (type) => {
    const raw = message(`Content-Type: ${type}`, 'Hello');
    expect(parsable(raw)).toBe(raw);
  });

  test.each([
    ['words', 'a=b '],
    ['quotes', '"'],
    ['brackets', '<'],
    ['blanks', ' '],
    ['slashes', 'a/'],
  ])('of %s alone costs no more than its length', async (_, piece) => {
    const header = Array.from(
      { length: 50 },
      () => `--b\r\nContent-Type: ${piece.repeat(4_000 / piece.length)}\r\n\r\nx\r\n`,
    ).join('');
    const raw = message('Content-Type: multipart/mixed; boundary=b', header);
    expect(costMs(() => parsable(raw))).toBeLessThan(400);
  });
});
