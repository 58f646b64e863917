import { describe, expect, test } from 'bun:test';
import { readReceived } from '../../../src/mail/received/received-mail.ts';

const read = (...lines: readonly string[]) => readReceived(Buffer.from(lines.join('\r\n')));

test('a message is read as a mail program shows it', async () => {
  const mail = await read(
    'From: =?UTF-8?Q?Ada_L=C3=B6velace?= <ada@customer.example>',
    'To: Support <support@acme.example>, "Other, One" <other@acme.example>',
    'Cc: Team: a@acme.example, b@acme.example;',
    'Reply-To: ada@home.example',
    'Subject: =?UTF-8?B?R3LDvMOfZQ==?=',
    'Date: Fri, 20 Nov 2026 22:43:17 +0100',
    'Message-ID: <1@customer.example>',
    'MIME-Version: 1.0',
    'Content-Type: multipart/mixed; boundary=x',
    '',
    '--x',
    'Content-Type: text/plain; charset=utf-8',
    '',
    'Hello',
    '--x',
    'Content-Type: application/pdf; name="a.pdf"',
    'Content-Disposition: attachment; filename="a/b.pdf"',
    'Content-ID: <part1@x>',
    'Content-Transfer-Encoding: base64',
    '',
    'JVBERg==',
    '--x',
    'Content-Type: message/rfc822',
    '',
    'Subject: Inner',
    '',
    'Inner text',
    '--x--',
    '',
  );
  expect(mail).toMatchObject({
    from: { name: 'Ada Lövelace', address: 'ada@customer.example' },
    to: [
      { name: 'Support', address: 'support@acme.example' },
      { name: 'Other, One', address: 'other@acme.example' },
    ],
    cc: [{ address: 'a@acme.example' }, { address: 'b@acme.example' }],
    replyTo: [{ address: 'ada@home.example' }],
    subject: 'Grüße',
    date: '2026-11-20T21:43:17.000Z',
    html: null,
    isAutomatic: false,
  });
  expect(mail.text?.trim()).toBe('Hello');
  expect(mail.attachments).toHaveLength(2);
  expect(mail.attachments[0]).toEqual({
    filename: 'a_b.pdf',
    contentType: 'application/pdf',
    contentId: 'part1@x',
    size: 4,
  });
});

test('one bracket too many is no part of an address', async () => {
  const mail = await read('From: ada@customer.example>', 'To: <<support@acme.example>', '', '');
  expect([mail.from?.address, mail.to.map(({ address }) => address)]).toEqual([
    'ada@customer.example',
    ['support@acme.example'],
  ]);
});

test.each([
  ['application/pdf name="a.pdf"', 'application/pdf'],
  ['application/pdf\t; name=a.pdf', 'application/pdf'],
  ['pdf', 'application/octet-stream'],
  [`application/${'x'.repeat(127)}`, `application/${'x'.repeat(127)}`],
  [`application/${'x'.repeat(128)}`, 'application/octet-stream'],
  ['application/<b>', 'application/octet-stream'],
])('the media type of a file is a type and a subtype: %s is %s', async (said, shown) => {
  const mail = await read(
    `Content-Type: ${said}`,
    'Content-Disposition: attachment; filename=a.pdf',
    '',
    'octets',
  );
  expect(mail.attachments.map(({ contentType }) => contentType)).toEqual([shown]);
});

test.each([
  ['../../etc/passwd', '.._.._etc_passwd'],
  ['C:\\\\eve.exe', 'C:_eve.exe'],
  ['invoice\u202efdp.exe', 'invoicefdp.exe'],
  ['.', 'attachment-1.pdf'],
  ['..', 'attachment-1.pdf'],
  ['...', '...'],
  [`${'a'.repeat(300)}.pdf`, 'a'.repeat(255)],
])('the name of a file leads to no other folder: %s is %s', async (said, shown) => {
  const mail = await read(
    'Content-Type: application/pdf',
    `Content-Disposition: attachment; filename="${said}"`,
    '',
    'octets',
  );
  expect(mail.attachments.map(({ filename }) => filename)).toEqual([shown]);
});

describe('a message that says little, or nonsense, is read as far as it goes', () => {
  test.each([
    ['nothing at all', ''],
    ['no header', '\r\nHello\r\n'],
    ['no field', 'Hello\r\nworld\r\n'],
    ['a date that is none', 'Date: yesterday\r\n\r\n'],
    ['a year beyond all calendars', 'Date: Fri, 20 Nov 275760 22:43:17 +0000\r\n\r\n'],
    ['a boundary that never comes', 'Content-Type: multipart/mixed; boundary=x\r\n\r\nHello\r\n'],
    ['octets of no charset', 'Subject: \xff\xfe\r\nContent-Type: text/plain; charset=no\r\n\r\n\x80\x81\r\n'],
    [
      'NUL and half of a pair',
      'Subject: =?utf-8?Q?a=00b=ED=A0=80c?=\r\nFrom: "\0" <a\0@b.example>\r\n\r\n\0',
    ],
    ['parts in parts in parts', nested(80)],
    ['a header without end', `X: ${'a'.repeat(300_000)}`],
  ])('%s', async (_, text) => {
    const mail = await readReceived(Buffer.from(text, 'latin1'));
    const json = JSON.stringify(mail);
    expect(json).not.toContain('\\u0000');
    expect(json.length).toBeLessThan(1_000_000);
    expect(mail.isAutomatic).toBe(false);
  });

  function nested(depth: number): string {
    let text = '';
    for (let level = 0; level < depth; level++)
      text += `Content-Type: multipart/mixed; boundary=b${level}\r\n\r\n--b${level}\r\n`;
    return text;
  }
});

test.each([
  ['Doe, Jane <jane@customer.example>', 'Doe, Jane'],
  ['Acme, Inc., Sales <jane@customer.example>', 'Acme, Inc., Sales'],
  ['Lost, <jane@customer.example>', null],
  ['Desk: Jane <jane@customer.example>;', 'Jane'],
  ['<>, Jane <jane@customer.example>', 'Jane'],
  ['Acme, Desk:;, Jane <jane@customer.example>', 'Jane'],
  ['=?utf-8?B?RG9lLCBKw6Q=?= =?utf-8?B?bmU=?= <jane@customer.example>', 'Doe, Jäne'],
  ['jane@customer.example, Ann <ann@customer.example>', null],
])('the sender of %s has an address', async (field, name) => {
  const { from, replyTo } = await read(`From: ${field}`, `Reply-To: ${field}`, '', 'Hello', '');
  expect(from).toEqual({ name, address: 'jane@customer.example' });
  expect(replyTo[0]).toEqual(from as never);
});

test('a sender without an address is none', async () => {
  expect((await read('From: Jane Doe', '', 'Hello', '')).from).toBeNull();
});

test('what is shown is bounded: 1,048,576 characters, 100 addresses, 1,000 fields and files', async () => {
  const address = (number: number) => `a${number}@b.example`;
  const mail = await read(
    `To: ${Array.from({ length: 150 }, (_, number) => address(number)).join(',\r\n ')}`,
    ...Array.from({ length: 1_200 }, (_, number) => `X-Field: ${number}`),
    '',
    'a'.repeat(1_100_000),
  );
  expect([mail.to.length, mail.headers.length, mail.text?.length]).toEqual([100, 1_000, 1_048_576]);
});

// Such words leave mblaze: findings/mblaze-answers-a-name-with-a-comma.sh.
test.each([
  ['=?UTF-8?Q?M=C3=BCller,_J=C3=BCrgen?=', 'Müller, Jürgen'],
  ['=?UTF-8?Q?M=C3=BCller,?= =?UTF-8?Q?_J=C3=BCrgen?=', 'Müller, Jürgen'],
  ['=?UTF-8?Q?M=C3=BCller,?=\r\n =?UTF-8?Q?_J=C3=BCrgen?=', 'Müller, Jürgen'],
  ['=?iso-8859-1?q?Kundenservice:_M=FCller_(Shop);?=', 'Kundenservice: Müller (Shop);'],
  ['=?UTF-8?Q?M=C3=BCller=2C_J=C3=BCrgen?=', 'Müller, Jürgen'],
])('the name %j is read whole', async (written, name) => {
  const raw = `From: ${written} <j@shop.example>\r\nTo: ann@shop.example, ${written} <j@shop.example>\r\nSubject: x\r\n\r\nHi\r\n`;
  const { from, to } = await readReceived(Buffer.from(raw));
  const sender = { name, address: 'j@shop.example' };
  expect(from).toEqual(sender);
  expect(to).toEqual([{ name: null, address: 'ann@shop.example' }, sender]);
});

test.each(['=?UTF-8?Q?a,_b?= <j@shop.example>', '=?UTF-8?Q?J_<x@shop.example>,?= <j@shop.example>'])(
  'no address is taken from a word or lost by one: %s',
  async (written) => {
    const before = written.includes('@shop.example>,') ? 'x@shop.example' : 'j@shop.example';
    const { from } = await readReceived(Buffer.from(`From: ${written}\r\nSubject: x\r\n\r\nHi\r\n`));
    expect(from?.address).toBe(before);
  },
);
