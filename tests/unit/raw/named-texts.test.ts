import { expect, test } from 'bun:test';
import { filesOf } from '../../../src/mail/raw/message-files.ts';
import { leavesOf } from '../../../src/mail/raw/mime-tree.ts';
import { PARSER_LIMITS, parseMessage } from '../../../src/mail/raw/repair/parsable.ts';

// Text files that programs attach with a name, as `inline` or without a disposition.

const TEXT = 'Content-Type: text/plain\r\n\r\nHello.';
const HTML = 'Content-Type: text/html\r\n\r\n<p>Hello.</p>';
const NAMED = 'Content-Type: text/plain; name=notes.txt\r\n\r\na\r\nb';

const container = (type: string, boundary: string, parts: readonly string[]): string =>
  [
    `Content-Type: multipart/${type}; boundary=${boundary}\r\n`,
    ...parts.map((part) => `--${boundary}\r\n${part}`),
    `--${boundary}--`,
  ].join('\r\n');

async function read(content: string) {
  const message = Buffer.from(`From: a@example.com\r\nMIME-Version: 1.0\r\n${content}\r\n`);
  const email = await parseMessage(message, PARSER_LIMITS);
  if (email === null) throw new Error('It cannot be read.');
  const files = filesOf(email, message).map(({ described, octets }) => [
    described.filename,
    Buffer.from(octets).toString(),
  ]);
  return { text: email.text, html: email.html, files, leaves: leavesOf(message) };
}

test.each([
  ['with the name in its type', NAMED],
  [
    'inline',
    'Content-Type: text/plain\r\nContent-Disposition: inline;\r\n filename="notes.txt"\r\n\r\na\r\nb',
  ],
  ['in another charset', NAMED.replace('; name', '; charset=iso-8859-1; name')],
  ['whose type has no semicolon', NAMED.replace('; name', ' charset=utf-8 name')],
])('a text file behind the text of the message is a file: %s', async (_, part) => {
  const { text, files } = await read(container('mixed', 'b', [TEXT, part]));
  expect(text).toBe('Hello.\n');
  expect(files).toEqual([['notes.txt', 'a\r\nb']]);
});

test('a file of html leaves the html of the message alone, which is the one that is changed', async () => {
  const page = 'Content-Type: text/html; name="a;b.html"\r\n\r\n<p>File</p>';
  const { html, files, leaves } = await read(container('mixed', 'b', [HTML, page, NAMED]));
  expect(html).toBe('<p>Hello.</p>\n');
  expect(files).toEqual([
    ['a;b.html', '<p>File</p>'],
    ['notes.txt', 'a\r\nb'],
  ]);
  expect(leaves.map(({ isAttachment }) => isAttachment)).toEqual([false, true, true]);
});

test('the text of a message may have a name', async () => {
  const alone = await read(NAMED);
  expect([alone.text, alone.files]).toEqual(['a\r\nb\r\n'.replaceAll('\r\n', '\n'), []]);
  const forms = [NAMED, HTML.replace('html\r', 'html; name=a.html\r')];
  const { text, html, files } = await read(
    container('mixed', 'm', [container('alternative', 'b', forms), 'Content-Type: text/plain\r\n\r\nFooter']),
  );
  expect([text, files]).toEqual(['a\nb\n\nFooter\n', []]);
  expect(html).toContain('<p>Hello.</p>');
  const picture = 'Content-Type: image/png; name=a.png\r\n\r\npng';
  expect((await read(container('mixed', 'b', [picture, NAMED]))).text).toBe('a\nb\n');
});

test('a text without a name behind a file goes on with the text', async () => {
  const { text, files } = await read(
    container('mixed', 'b', [TEXT, NAMED, 'Content-Type: text/plain\r\n\r\nFooter']),
  );
  expect([text, files]).toEqual(['Hello.\n\nFooter\n', [['notes.txt', 'a\r\nb']]]);
});

test('each form of one text may have a name, also within a container', async () => {
  const page = container('mixed', 'i', [HTML.replace('html\r', 'html; name="body.html"\r'), NAMED]);
  const { text, html, files } = await read(container('alternative', 'b', [TEXT, page]));
  expect([text, html]).toEqual(['Hello.\n', '<p>Hello.</p>\n']);
  expect(files.map(([name]) => name)).toEqual(['notes.txt']);
});

test.each([
  ['a text', TEXT],
  ['a picture', 'Content-Type: image/png\r\n\r\npng'],
])('a named html behind %s that is signed is a file, which nothing changes', async (_, part) => {
  const signature = 'Content-Type: application/pgp-signature\r\n\r\nx';
  const page = 'Content-Type: text/html; name=a.html\r\n\r\n<p>File</p>';
  const { html, files, leaves } = await read(
    container('mixed', 'b', [container('signed', 's', [part, signature]), page]),
  );
  expect(html).toBeUndefined();
  expect(files.map(([name]) => name)).toContain('a.html');
  expect(leaves.at(-1)?.isAttachment).toBe(true);
});
