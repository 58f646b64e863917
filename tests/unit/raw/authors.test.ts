import { describe, expect, test } from 'bun:test';
import { authorsOf } from '../../../src/mail/raw/authors.ts';
import { NotSubmittable } from '../../../src/mail/raw/raw-mail.ts';
import { readRaw } from '../../../src/mail/raw/read-raw.ts';
import { readSubmission } from '../../../src/mail/submission/submitted.ts';

const message = (fields: string) => Buffer.from(`${fields}\r\nTo: c@d.example\r\nSubject: Hi\r\n\r\nx\r\n`);

describe('a malformed From', () => {
  test.each([
    '<a@one.example> <b@two.example>',
    'a@one.example b@two.example',
    'b@two.example <a@one.example>',
    '"a@one.example" a@one.example',
    '<a@one.example>b@two.example',
    '<a@one.example> Ada',
    'a@one.example;b@two.example',
    '<a@one.example@two.example>',
    'a@one.example@two.example',
    '<a@one.example,b@two.example>',
    // A route (RFC 5322 4.4) and a group (RFC 6854).
    '<@two.example:a@one.example>',
    'Team: a@one.example, b@one.example;',
    'Re: <a@one.example>',
    // The name needs quotation marks (RFC 5322 3.2.4).
    'Acme, Inc. <office@one.example>',
    'Ada [Sales] <a@one.example>',
    '=?utf-8?Q?b@two.example?= <a@one.example>',
    // Something without an end.
    '<a@one.example',
    'a@one.example>',
    '"Ada <a@one.example>',
    'a@one.example (Ada',
    'Ada <a@one.example> (b@two.example',
    '(a@one.example',
    // No address, or half of one.
    '<>',
    'Ada',
    ',',
    'a@',
    '@one.example',
    'a..b@one.example',
    'a b@one.example',
    '"b@two.example"@one.example',
    'a@one example',
    'Ada\0 <a@one.example>',
  ])('is refused: %p', async (from) => {
    expect(authorsOf(from) ?? []).toEqual([]);
    for (const read of [readRaw(message(`From: ${from}`)), readSubmission(message(`From: ${from}`), [])]) {
      const refused = await read;
      expect(refused).toBeInstanceOf(NotSubmittable);
      expect((refused as NotSubmittable).reason).toContain('The From field is malformed');
    }
  });
});

describe('a From field that is well formed', () => {
  // nodemailer 10 and the email module of Python read the same addresses, but for the white space beside an
  // at sign, which nodemailer keeps.
  test.each<[string, readonly (readonly [string | null, string])[]]>([
    ['a@one.example', [[null, 'a@one.example']]],
    ['<a@one.example>', [[null, 'a@one.example']]],
    [' < a@one.example > ', [[null, 'a@one.example']]],
    ['Ada<a@one.example>', [['Ada', 'a@one.example']]],
    ['Ada\t Lovelace <a@one.example>', [['Ada Lovelace', 'a@one.example']]],
    ['"Acme, Inc." <a@one.example>', [['Acme, Inc.', 'a@one.example']]],
    [String.raw`"a \"b\" \\ c" <a@one.example>`, [[String.raw`a "b" \ c`, 'a@one.example']]],
    ['"b@two.example" <a@one.example>', [['b@two.example', 'a@one.example']]],
    ['John Q. Public <a@one.example>', [['John Q. Public', 'a@one.example']]],
    ['John "Q" Public <a@one.example>', [['John Q Public', 'a@one.example']]],
    ["O'Brien & Co | Ltd <a@one.example>", [["O'Brien & Co | Ltd", 'a@one.example']]],
    ['Müller <m@one.example>', [['Müller', 'm@one.example']]],
    ['用户 <用户@例子.example>', [['用户', '用户@例子.example']]],
    ['=?utf-8?q?J=C3=B6?= =?utf-8?q?rg?= <a@one.example>', [['Jörg', 'a@one.example']]],
    ['=?utf-8?b?YkB0d28uZXhhbXBsZQ==?= <a@one.example>', [['b@two.example', 'a@one.example']]],
    ['a@one.example (Ada)', [['Ada', 'a@one.example']]],
    [String.raw`(c) a@one.example (Ada (n\) x))`, [[String.raw`Ada (n\) x)`, 'a@one.example']]],
    ['Ada (Sales, b@two.example) <a@one.example> (x)', [['Ada', 'a@one.example']]],
    ['<a@one.example> (Ada)', [['Ada', 'a@one.example']]],
    ['a (x) @ (y) one.example', [['y', 'a@one.example']]],
    ['"a b"@one.example', [[null, '"a b"@one.example']]],
    ['<"b@two.example"@one.example>', [[null, '"b@two.example"@one.example']]],
    ['a@one.example <A@One.example>', [['a@one.example', 'A@One.example']]],
    [
      'a@one.example,, Two (x, y) <b@two.example>,',
      [
        [null, 'a@one.example'],
        ['Two', 'b@two.example'],
      ],
    ],
  ])('is taken: %p', (from, authors) => {
    expect(authorsOf(from)?.map(({ name, address }) => [name, address] as const)).toEqual([...authors]);
  });
});

test('a message without From is refused for that', async () => {
  const { reason } = (await readRaw(message('X-A: b'))) as NotSubmittable;
  expect(reason).toStartWith('The message has no From field: add one');
});

// So Flask-Mail 0.9.1 writes the sender ("Acme, Inc.", "hello@one.example").
test.each(['From: ', 'From:\t', 'From: ""'])(
  'a From field that is empty is refused for that: %p',
  async (field) => {
    const { reason } = (await readRaw(message(field))) as NotSubmittable;
    expect(reason).toStartWith(
      field.includes('"') ? 'The From field is malformed' : 'The From field is empty',
    );
  },
);

test('Sender at another domain stays', async () => {
  const mail = await readRaw(message('From: a@one.example\r\nSender: list@two.example'));
  expect(Buffer.from((mail as Exclude<typeof mail, NotSubmittable>).octets).toString()).toContain(
    '\r\nSender: list@two.example\r\n',
  );
});
