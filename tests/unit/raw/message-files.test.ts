import { describe, expect, test } from 'bun:test';
import { createHash } from 'node:crypto';
import { NotSubmittable } from '../../../src/mail/raw/raw-mail.ts';
import { readFile, readRaw } from '../../../src/mail/raw/read-raw.ts';
import { readParts } from '../../../src/mail/reading/mail-parts.ts';
import { readReceived } from '../../../src/mail/received/received-mail.ts';
import { readSubmission } from '../../../src/mail/submission/submitted.ts';

// postal-mime 4.0.0 changes the lines of every part that is not in base64: these are the octets of the
// sender.

const FIELDS = 'From: ada@acme.example\r\nTo: bob@example.net\r\nSubject: Files\r\nMIME-Version: 1.0\r\n';

/** A part with its header lines. */
const part = (lines: readonly string[], octets: Buffer): Buffer =>
  Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`), octets, Buffer.from('\r\n')]);

const multipart = (parts: readonly Buffer[], type = 'multipart/mixed', more = ''): Buffer =>
  Buffer.concat([
    Buffer.from(`${FIELDS}${more}Content-Type: ${type}; boundary=b1\r\n\r\n`),
    ...parts.flatMap((each) => [Buffer.from('--b1\r\n'), each]),
    Buffer.from('--b1--\r\n'),
  ]);

const TEXT = part(['Content-Type: text/plain'], Buffer.from('Hello'));
const attached = (type: string, encoding: string | null, octets: string): Buffer =>
  part(
    [
      `Content-Type: ${type}; name=a`,
      'Content-Disposition: attachment',
      ...(encoding === null ? [] : [`Content-Transfer-Encoding: ${encoding}`]),
    ],
    Buffer.from(octets, 'latin1'),
  );

const CSV = 'a,b\r\nc,d';
const INNER = 'From: eve@example.net\r\nSubject: Inner\r\n\r\nSigned by its domain.\r\n';

describe('a file has the octets of its sender', () => {
  test.each([
    ['in 7bit', 'text/csv', '7bit', CSV, CSV],
    ['without an encoding, whose last line ends', 'text/csv', null, `${CSV}\r\n`, `${CSV}\r\n`],
    ['in 8bit', 'text/x-patch', '8bit', '-caf\xe9\r\n+caf\xe8', '-caf\xe9\r\n+caf\xe8'],
    ['in quoted-printable', 'text/csv', 'Quoted-Printable', 'a=3Db=\r\n,c\r\nd', 'a=b,c\r\nd'],
    ['in base64', 'text/csv', 'base64', Buffer.from(CSV).toString('base64'), CSV],
    [
      'that is a calendar',
      'text/calendar',
      null,
      'BEGIN:VCALENDAR\r\nEND:VCALENDAR',
      'BEGIN:VCALENDAR\r\nEND:VCALENDAR',
    ],
    ['that is a message', 'message/rfc822', null, INNER, INNER],
    ['that is empty', 'text/csv', null, '', ''],
  ])('%s', async (_, type, encoding, sent, expected) => {
    const message = multipart([TEXT, attached(type, encoding, sent)]);
    const octets = Buffer.from(expected, 'latin1');
    const file = await readFile(message, 0);
    expect(Buffer.from(file?.octets ?? []).toString('latin1')).toBe(expected);
    const received = await readReceived(message);
    expect(received.attachments).toMatchObject([{ contentType: type, size: octets.length }]);
    expect((await readParts(message))?.attachments).toMatchObject([{ size: octets.length }]);
    const read = await readRaw(message);
    if (read instanceof NotSubmittable) throw new Error(read.reason);
    expect(read.index.attachments).toMatchObject([{ size: octets.length }]);
  });

  test('in a signed container, beside a shown text and another file', async () => {
    const signature = '-----BEGIN PGP SIGNATURE-----\r\n\r\nabc\r\n-----END PGP SIGNATURE-----';
    const message = multipart(
      [
        part(['Content-Type: text/plain; name=shown.txt'], Buffer.from('Hello')),
        attached('application/pgp-signature', null, signature),
        attached('text/csv', 'base64', Buffer.from(CSV).toString('base64')),
      ],
      'multipart/signed; protocol="application/pgp-signature"',
    );
    const files = await Promise.all([0, 1].map((at) => readFile(message, at)));
    expect(files.map((file) => Buffer.from(file?.octets ?? []).toString())).toEqual([signature, CSV]);
  });

  test('also where a template takes the place of the text', async () => {
    const message = multipart(
      [TEXT, attached('text/csv', null, CSV)],
      'multipart/mixed',
      'X-Svc-Template: welcome\r\n',
    );
    const submission = await readSubmission(message, ['bob@example.net']);
    if (submission instanceof NotSubmittable) throw new Error(submission.reason);
    expect(
      submission.email.attachments?.map(({ content }) => Buffer.from(content, 'base64').toString()),
    ).toEqual([CSV]);
  });
});

test('where a malformed message is read in two ways, every file is there', async () => {
  // The type of a container that names no boundary: both readings differ in what it holds.
  const odd = part(['Content-Type: multipart/mixed'], Buffer.from('--x\r\n\r\nlost\r\n--x--'));
  const message = multipart([TEXT, odd, attached('text/csv', null, CSV)]);
  const { attachments } = await readReceived(message);
  expect(attachments.length).toBeGreaterThan(0);
  const last = await readFile(message, attachments.length - 1);
  expect(
    Buffer.from(last?.octets ?? [])
      .toString()
      .replace(/\r?\n/g, '\n')
      .trim(),
  ).toBe('a,b\nc,d');
});

test('the hash of a forwarded message is that of the message', async () => {
  const message = multipart([TEXT, attached('message/rfc822', null, INNER)]);
  const file = await readFile(message, 0);
  const hash = (octets: Uint8Array) => createHash('sha256').update(octets).digest('hex');
  expect(hash(file?.octets ?? new Uint8Array())).toBe(hash(Buffer.from(INNER)));
});
