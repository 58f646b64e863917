import { describe, expect, test } from 'bun:test';
import PostalMime from 'postal-mime';
import { readReport } from '../../../src/mail/inbound/read-report.ts';
import { openedLeavesOf } from '../../../src/mail/raw/mime-tree.ts';
import { NotSubmittable } from '../../../src/mail/raw/raw-mail.ts';
import { readRaw } from '../../../src/mail/raw/read-raw.ts';
import { readParts } from '../../../src/mail/reading/mail-parts.ts';
import { readReceived } from '../../../src/mail/received/received-mail.ts';
import { costMsOf } from '../../support/own-time.ts';
import { dsn, POSTFIX } from '../transport/reports.ts';

/** Parameters that name the delimiter `B/1`, as programs write it and as they should not. */
const NAMING = [
  'boundary="B/1"',
  'boundary=B/1',
  'BOUNDARY = "B/1"',
  "boundary*=us-ascii''B%2F1",
  "boundary*=utf-8'en'B/1",
  'boundary*0=B; boundary*1=/1',
  'boundary*1="/1"; boundary*0="B"',
  "boundary*0*=us-ascii'en'B%2f; boundary*1=1",
  "boundary=zz; boundary*=us-ascii''B/1",
  'boundary="B/1',
  'boundary=B/1"',
  'boundary="B/1" (a comment',
  'boundary="B/1" (; boundary=zz)',
  '(; boundary=zz) boundary="B/1"',
  '(a (nested; boundary=zz) one; boundary=zz) boundary="B/1"',
  'x="; boundary=zz"; boundary="B/1"',
  'x="(; boundary=zz"; boundary="B/1"',
  'x=Bill(1; boundary="B/1"',
  'flag; boundary="B/1"; boundary=zz',
];

const TO = ['b+token-1@bounces.sender.example'];
const named = (naming: string) =>
  Buffer.from(dsn({ status: POSTFIX }).toString('latin1').replace('boundary="B/1"', naming), 'latin1');

describe('a bounce', () => {
  test.each([...NAMING, 'boundary=zz', 'boundary="B/1 "', 'x=y'])('suppresses: %s', async (naming) => {
    const [feedback, ...others] = await readReport(named(naming), TO, true);
    expect(feedback).toMatchObject({
      kind: 'bounced',
      permanent: true,
      suppresses: true,
      enhancedCode: '5.1.1',
      failing: 'bob@inner.example',
    });
    expect(others).toEqual([]);
  });
});

const PATCH = '-a\r\n+b';
const withFile = (naming: string): Buffer =>
  Buffer.from(
    [
      'From: a@sender.example',
      'To: r@receiver.example',
      'Subject: x',
      'MIME-Version: 1.0',
      `Content-Type: multipart/mixed; ${naming}`,
      '',
      '--B/1',
      'Content-Type: text/plain',
      '',
      'Hello',
      '--B/1',
      'Content-Type: text/x-patch; name=a.patch',
      'Content-Disposition: attachment',
      '',
      PATCH,
      '--B/1--',
      '',
    ].join('\r\n'),
  );

describe('a file and the text before it', () => {
  test.each(NAMING)('are read: %s', async (naming) => {
    const message = withFile(naming);
    const submitted = await readRaw(message);
    if (submitted instanceof NotSubmittable) throw submitted;
    const views = [await readReceived(message), await readParts(message)];
    const files = [submitted.index.attachments, ...views.map((view) => view?.attachments ?? [])];
    for (const [file, ...others] of files) {
      // The size is that of the sender, so that this reading finds the parts that the parser finds.
      expect([file?.contentType, file?.size, others]).toEqual(['text/x-patch', PATCH.length, []]);
    }
    for (const view of [submitted, ...views]) expect(view?.text?.trim()).toBe('Hello');
    expect(openedLeavesOf(message).map(({ type }) => type)).toEqual(['text/plain', 'text/x-patch']);
  });
});

describe('a message without a delimiter of parts', () => {
  test('keeps its header, and its words are decoded', async () => {
    const type = 'multipart/mixed; boundary=zz';
    const head = `Content-Type: ${type}\r\nContent-Transfer-Encoding: quoted-printable\r\n`;
    const read = await readReceived(Buffer.from(`${head}\r\nGr=C3=B6=C3=9Fe=\r\n 5\r\n`));
    expect(read.text).toBe('Größe 5\n');
    expect(read.headers[0]).toEqual({ name: 'Content-Type', value: type });
  });

  test('is shown also where it names none, and empty parts stay empty', async () => {
    const textOf = async (body: string, naming: string) =>
      (await readReceived(Buffer.from(`Content-Type: multipart/mixed${naming}\r\n\r\n${body}`))).text;
    expect(await textOf('Hello\r\n', '')).toBe('Hello\n');
    expect(await textOf('Hello\r\n', '; boundary=""')).toBe('Hello\n');
    expect(await textOf('--b--\r\n', '; boundary=b')).toBeNull();
    expect(await textOf('', '; boundary=b')).toBeNull();
  });

  test('is parsed once, as every other', async () => {
    const { parse } = PostalMime.prototype;
    let parses = 0;
    PostalMime.prototype.parse = function count(...given) {
      parses++;
      return parse.apply(this, given);
    };
    try {
      for (const message of [withFile('boundary="B/1"'), withFile('boundary=zz'), withFile('x=y')]) {
        parses = 0;
        await readReceived(message);
        expect(parses).toBe(1);
      }
    } finally {
      PostalMime.prototype.parse = parse;
    }
  });
});

test.each([
  ['opening brackets', ' ('],
  ['comments', ' ()'],
  ['comments in one that is not closed', ' (()'],
  ['quotes', ' "'],
  ['quotes with an escape', ' "\\'],
  ['parameters', ';a="'],
  ['sections', ';b*1=a'],
  ['signs of a section', ';*'],
  ['codes', "'%41"],
])('a Content-Type of %s costs no more than its length', async (_, piece) => {
  const run = (begin: string) => begin + piece.repeat(60_000);
  for (const begin of ['', 'multipart/mixed;', "multipart/mixed; boundary*=a'b'"]) {
    const message = Buffer.from(`Content-Type: ${run(begin)}\r\n\r\nHello\r\n`);
    expect(await costMsOf(async () => openedLeavesOf(message))).toBeLessThan(200);
  }
});
