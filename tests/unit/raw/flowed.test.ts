import { expect, test } from 'bun:test';
import { readReceived } from '../../../src/mail/received/received-mail.ts';
import { costMsOf } from '../../support/own-time.ts';

// Thunderbird writes format=flowed, with the answer below the quotation.

const flowed = (lines: readonly string[], { encoding = '7bit', more = '' } = {}): Buffer => {
  const text = lines.join('\r\n');
  const body =
    encoding === 'base64'
      ? Buffer.from(text).toString('base64')
      : encoding === 'quoted-printable'
        ? text.replace(/ \r\n/g, '=20\r\n')
        : text;
  return Buffer.from(
    [
      'From: ada@customer.example',
      'To: support@acme.example',
      'Subject: format=flowed',
      'MIME-Version: 1.0',
      `Content-Type: text/plain; charset=UTF-8;\r\n format=flowed${more}`,
      `Content-Transfer-Encoding: ${encoding}`,
      '',
      body,
      '',
    ].join('\r\n'),
  );
};

test.each(['7bit', '8bit', 'quoted-printable', 'base64'])(
  'an answer is no part of the quoted line above it, in %s',
  async (encoding) => {
    const raw = flowed(['On 29/11/2026 18:26, Bob wrote:', '> Is it ', '> ready? ', 'Yes, it ', 'is.'], {
      encoding,
    });
    const { text, replyText, subject } = await readReceived(raw);
    expect(text?.replaceAll('\r', '').trimEnd()).toBe(
      'On 29/11/2026 18:26, Bob wrote:\n> Is it ready? \nYes, it is.',
    );
    expect([replyText, subject]).toEqual(['Yes, it is.', 'format=flowed']);
  },
);

test.each([
  ['lines of other depths', ['>> a ', '> b ', 'c'], '>> a \n> b \nc'],
  ['the line above a signature', ['Bye ', '-- ', 'Ada'], 'Bye \n-- \nAda'],
  ['the same in a quotation', ['> Bye ', '> -- ', '> Ada', 'Yes'], '> Bye \n> -- \n> Ada\nYes'],
  ['a space before the text', [' From here ', ' on'], 'From here on'],
  ['a text that begins with a mark', ['a', ' > no', ' -- b', '  c'], 'a\n> no\n-- b\n c'],
  ['marks with a space and without', ['>a ', '> b'], '> a b'],
  ['an empty line', ['a ', '', 'b'], 'a \nb'],
])('keeps %s', async (_kind, lines, shown) => {
  expect((await readReceived(flowed(lines))).text?.trimEnd()).toBe(shown);
});

test('a deleted space joins two halves of a word (delsp)', async () => {
  const raw = flowed(['Donau ', 'dampf  ', 'schiff'], { more: '; DelSp="yes"' });
  expect((await readReceived(raw)).text?.trim()).toBe('Donaudampf schiff');
});

test.each(['7bit', 'quoted-printable', 'base64'])(
  'no line becomes a delimiter of parts, in %s',
  async (encoding) => {
    const part = flowed(
      [' --B--', ' --B', ' Content-Type: text/html', ' ', ' <b>new</b>', '=2D-B--', 'end'],
      {
        encoding: encoding === 'quoted-printable' ? '7bit' : encoding,
      },
    ).toString();
    const body = part.replace('7bit', encoding).slice(part.indexOf('Content-Type'));
    const file = 'Content-Type: application/pdf; name="x.pdf"\r\nContent-Disposition: attachment\r\n\r\nx';
    const raw =
      `From: a@b.example\r\nTo: c@d.example\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=B\r\n\r\n` +
      `--B\r\n${body}\r\n--B\r\n${file}\r\n--B--\r\n`;
    const { text, html, attachments } = await readReceived(Buffer.from(raw));
    expect([text?.includes('end'), html, attachments.map(({ filename }) => filename)]).toEqual([
      true,
      null,
      ['x.pdf'],
    ]);
  },
);

test.each([
  ['letters of two octets', '; x=y', 'utf-16le'],
  ['a file name that says so', '; name="format=flowed.txt"', 'utf-8'],
])('leaves %s to the parser', async (_kind, parameter, charset) => {
  const text = Buffer.from('Hello \r\nworld\r\n', charset === 'utf-8' ? 'utf8' : 'utf16le');
  const says = charset === 'utf-8' ? '' : '; format=flowed';
  const raw = `From: a@b.example\r\nMIME-Version: 1.0\r\nContent-Type: text/plain; charset=${charset}${says}${parameter}\r\nContent-Transfer-Encoding: base64\r\n\r\n${text.toString('base64')}\r\n`;
  expect((await readReceived(Buffer.from(raw))).text?.replaceAll('\r', '').trim()).toBe(
    charset === 'utf-8' ? 'Hello \nworld' : 'Hello world',
  );
});

test('an attached text stays as it is, and lines without end are read', async () => {
  const attached = flowed(['a ', 'b'])
    .toString()
    .replace('Content-Transfer', 'Content-Disposition: attachment\r\nContent-Transfer');
  expect((await readReceived(Buffer.from(attached))).attachments[0]?.size).toBe('a \r\nb\r\n'.length);
  for (const line of ['> a ', 'a ', '>', '\u2028 '])
    expect(await costMsOf(() => readReceived(flowed(Array(250_000).fill(line))))).toBeLessThan(2_000);
});
