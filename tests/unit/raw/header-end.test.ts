import { describe, expect, test } from 'bun:test';
import { leavingMessage } from '../../../src/mail/raw/leaving.ts';
import { NotSubmittable, type RawMail } from '../../../src/mail/raw/raw-mail.ts';
import { readRaw } from '../../../src/mail/raw/read-raw.ts';

const AT = Date.UTC(2026, 10, 27, 12);
const HEAD = 'From: Shop <shop@sender.example>\r\nTo: ada@example.com\r\nSubject: Disk\r\n';
const ADDED = 'Date: Fri, 27 Nov 2026 12:00:00 +0000\r\nMessage-ID: <em_1@sender.example>\r\n';

async function read(message: string): Promise<RawMail> {
  const mail = await readRaw(Buffer.from(message, 'latin1'));
  if (mail instanceof NotSubmittable) throw new Error(mail.reason);
  return mail;
}

async function sent(message: string): Promise<string> {
  const { composed, behind } = leavingMessage(Buffer.from((await read(message)).octets), {
    id: 'em_1',
    acceptedAt: AT,
    came: null,
    date: AT,
    messageId: '<em_1@sender.example>',
    domains: ['sender.example'],
    unsubscribe: null,
    changes: [],
  });
  return Buffer.concat([composed, behind]).toString('latin1');
}

// Postfix, Sendmail and Exim end a header there too. A field behind the text would be a part of it for them:
// no message id, and a signature that does not hold.
describe('a header that runs into the text, as scripts write it', () => {
  test.each([
    ['a text', 'The disk is full.\r\nLook at it.\r\n'],
    ['a text with an empty line', 'The disk is full.\r\n\r\nNote: look at it.\r\n'],
    ['a text that begins with white space behind it', 'The disk:\r\n  /dev/sda1\r\n'.replace(':', '')],
    ['a text that names fields', 'The disk is full\r\nDate: today\r\nSubject: as above\r\nState: DOWN\r\n'],
  ])('ends before %s', async (_, text) => {
    expect(await sent(HEAD + text)).toBe(`${HEAD}${ADDED}\r\n${text}`);
    const { text: shown, subject } = await read(HEAD + text);
    expect([subject, shown]).toEqual(['Disk', text.replaceAll('\r\n', '\n')]);
  });

  test('ends before the first delimiter of its parts', async () => {
    const type = 'MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n';
    const parts =
      '--b\r\nContent-Type: text/plain\r\n\r\nHello\r\n--b\r\nContent-Type: application/pdf\r\n\r\nx\r\n--b--\r\n';
    expect(await sent(HEAD + type + parts)).toBe(`${HEAD}${type}${ADDED}\r\n${parts}`);
    const { text, index } = await read(HEAD + type + parts);
    expect([text?.trim(), index.attachments.length]).toEqual(['Hello', 1]);
  });

  test('goes on where a field follows by which the message is shown', async () => {
    const message = `From: Shop <shop@sender.example>\r\nX-Mailer no colon\r\nTo: ada@example.com\r\nSubject: Disk\r\n`;
    expect(await sent(`${message}\r\nHello\r\n`)).toBe(`${message}${ADDED}\r\nHello\r\n`);
    expect((await read(`${message}\r\nHello\r\n`)).subject).toBe('Disk');
  });
});

test('a header goes on to a field that may not leave, and to one by which a reader leaves', async () => {
  const wrap = 'and this line is a fold that lost its space\r\n';
  const orders = 'Bcc: boss@example.com\r\nIdempotency-Key: once\r\nX-Svc-Tag: news\r\n';
  const mail = await read(`${HEAD}${wrap}${orders}\r\nHello\r\n`);
  expect(mail.bcc.map(({ address }) => address)).toEqual(['boss@example.com']);
  expect([mail.controls.idempotencyKey, mail.controls.tags]).toEqual(['once', ['news']]);
  for (const order of orders.split(/(?<=\n)/)) {
    const left = await sent(`${HEAD}${wrap}${order}\r\nHello\r\n`);
    expect(left).toBe(`${HEAD}${wrap}${ADDED}\r\nHello\r\n`);
  }
  const exit = 'List-Unsubscribe: <https://sender.example/leave>\r\n';
  expect(await sent(`${HEAD}${wrap}${exit}\r\nHello\r\n`)).toBe(`${HEAD}${wrap}${exit}${ADDED}\r\nHello\r\n`);
});

// Behind other fields, such as those that a server adds on top, such a line would end the header.
describe('lines that are no part of a message', () => {
  test.each([
    ['the line of an mbox, as git format-patch writes it', 'From 3f2a1b Mon Sep 17 00:00:00 2001\r\n'],
    ['such a line that was escaped', '>From ada@example.com Fri Nov 27 12:00:00 2026\r\n'],
    ['both', '>From a Fri Nov 27 12:00:00 2026\r\nFrom b Fri Nov 27 12:00:00 2026\r\n'],
    ['a fold of no field', ' fold\r\n\tand another\r\n'],
  ])('%s: do not leave', async (_, lines) => {
    expect(await sent(`${lines}${HEAD}\r\nHello\r\n`)).toBe(`${HEAD}${ADDED}\r\nHello\r\n`);
  });

  test('behind the Message-ID that msmtp puts before them: do not leave', async () => {
    const line = 'From 3f2a1b Mon Sep 17 00:00:00 2001\r\n';
    const own = 'Message-ID: <1.shop@sender.example>\r\n';
    const date = 'Date: Fri, 27 Nov 2026 12:00:00 +0000\r\n';
    expect(await sent(`${own}${line}${HEAD}\r\nHello\r\n`)).toBe(`${own}${HEAD}${date}\r\nHello\r\n`);
  });
});
