import { describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readFile } from '../../../src/mail/raw/read-raw.ts';
import { signedContent } from '../../../src/mail/raw/repair/signed-data.ts';
import { tnefFiles } from '../../../src/mail/raw/repair/tnef.ts';
import { readReceived } from '../../../src/mail/received/received-mail.ts';

// `signed.p7m`, `signed-streamed.p7m` (with lengths that are not known before) and `enveloped.p7m` are of
// OpenSSL 3.0 (cms -sign -nodetach, with -stream, and -encrypt); the program tnef of Debian reads
// `winmail.dat` as it is read here.

const fixture = (name: string): Buffer => readFileSync(join(import.meta.dir, '../../fixtures/wrapped', name));
const encoded = (octets: Buffer): string => octets.toString('base64').replace(/.{76}/g, '$&\r\n');

const FIELDS = 'From: ann@shop.example\r\nTo: b@reader.example\r\nSubject: Offer\r\nMIME-Version: 1.0\r\n';
const smime = (octets: Buffer, more = '') =>
  `Content-Type: application/pkcs7-mime${more}; name="smime.p7m"\r\nContent-Transfer-Encoding: base64\r\nContent-Disposition: attachment; filename="smime.p7m"\r\n\r\n${encoded(octets)}\r\n`;
const mixed = (part: string) =>
  `Content-Type: multipart/mixed; boundary=out\r\n\r\n--out\r\nContent-Type: text/plain\r\n\r\nSee it\r\n--out\r\n${part}--out--\r\n`;

/** The text of a message, and its files with their octets. */
async function shown(message: string): Promise<readonly unknown[]> {
  const raw = Buffer.from(FIELDS + message);
  const { subject, text, attachments } = await readReceived(raw);
  expect(subject).toBe('Offer');
  const files = attachments.map(async ({ filename, size }, at) => {
    const octets = Buffer.from((await readFile(raw, at))?.octets ?? []);
    expect(octets.length).toBe(size);
    return [filename, octets];
  });
  return [text?.trim() ?? null, ...(await Promise.all(files))];
}

describe('an opaque signature of S/MIME', () => {
  for (const name of ['signed.p7m', 'signed-streamed.p7m'])
    for (const more of ['; smime-type=signed-data', ''])
      test(`shows what it signs, and stays a file: ${name}${more}`, async () => {
        const octets = fixture(name);
        expect(await shown(smime(octets, more))).toEqual([
          'Grüße',
          ['a.csv', Buffer.from('a,b\r\nc,d')],
          ['smime.p7m', octets],
        ]);
      });

  test('shows it beside the other parts of a message', async () => {
    const octets = fixture('signed.p7m');
    const [text, ...files] = await shown(mixed(smime(octets)));
    expect([String(text).replace(/\s+/g, ' '), files]).toEqual([
      'See it Grüße',
      [
        ['a.csv', Buffer.from('a,b\r\nc,d')],
        ['smime.p7m', octets],
      ],
    ]);
  });

  test('leaves the fields of the message as they came', async () => {
    const raw = Buffer.from(FIELDS + smime(fixture('signed.p7m'), '; smime-type=signed-data'));
    const values = (await readReceived(raw)).headers.map(({ name, value }) => `${name}: ${value}`);
    expect(values.slice(-3)).toEqual([
      'Content-Type: application/pkcs7-mime; smime-type=signed-data; name="smime.p7m"',
      'Content-Transfer-Encoding: base64',
      'Content-Disposition: attachment; filename="smime.p7m"',
    ]);
  });

  test('is a file alone where it is encrypted, damaged or none', async () => {
    const whole = fixture('signed-streamed.p7m');
    for (const octets of [
      fixture('enveloped.p7m'),
      whole.subarray(0, 40),
      Buffer.alloc(8),
      Buffer.from('text'),
    ])
      expect(await shown(smime(octets))).toEqual([null, ['smime.p7m', octets]]);
  });

  test('is read at any end, and with any octet changed', () => {
    const whole = fixture('signed-streamed.p7m');
    for (let at = 0; at < whole.length; at++) {
      signedContent(whole.subarray(0, at));
      for (const octet of [0, 0x30, 0x80, 0x84, 0xff])
        signedContent(Buffer.concat([whole.subarray(0, at), Buffer.from([octet]), whole.subarray(at + 1)]));
    }
    // Values in one another without an end.
    expect(signedContent(Buffer.from('3080'.repeat(100_000), 'hex'))).toBeNull();
  });

  test('is read in 100,000 pieces at most', () => {
    const value = (tag: string, content: string): string =>
      `${tag}84${(content.length / 2).toString(16).padStart(8, '0')}${content}`;
    const typed = (type: string, content: string): string =>
      value('30', `0609${type}${value('a0', content)}`);
    const inPieces = (count: number): Buffer => {
      const data = typed('2a864886f70d010701', value('24', '040161'.repeat(count)));
      return Buffer.from(typed('2a864886f70d010702', value('30', `0201013100${data}`)), 'hex');
    };
    expect(signedContent(inPieces(100_000))).toEqual(Buffer.alloc(100_000, 'a'));
    expect(signedContent(inPieces(100_001))).toBeNull();
  });
});

describe('winmail.dat', () => {
  const octets = fixture('winmail.dat');
  const FILES = [
    ['Grüße report.csv', Buffer.from('a,b\r\nc,d\r\n')],
    ['b.bin', Buffer.from([0, 1, 2, 255])],
  ] as const;
  const tnef = (content: Buffer, type = 'application/ms-tnef') =>
    mixed(
      `Content-Type: ${type}; name="winmail.dat"\r\nContent-Transfer-Encoding: base64\r\nContent-Disposition: attachment; filename="winmail.dat"\r\n\r\n${encoded(content)}\r\n`,
    );

  test.each(['application/ms-tnef', 'application/vnd.ms-tnef', 'APPLICATION/MS-TNEF'])(
    'gives out its files, and stays one: %s',
    async (type) => {
      expect(await shown(tnef(octets, type))).toEqual(['See it', ...FILES, ['winmail.dat', octets]]);
    },
  );

  test('is a file alone where it has none or is damaged', async () => {
    for (const content of [octets.subarray(0, 30), Buffer.from('text')])
      expect(await shown(tnef(content))).toEqual(['See it', ['winmail.dat', content]]);
  });

  test('is read at any end, and with any octet changed', () => {
    for (let at = 0; at < octets.length; at++) {
      // A count of 0xffffffff values must not be believed.
      tnefFiles(Buffer.concat([octets.subarray(0, at), Buffer.alloc(4, 0xff), octets.subarray(at + 4)]));
      tnefFiles(octets.subarray(0, at));
      for (const octet of [0, 1, 0x90, 0xff])
        tnefFiles(Buffer.concat([octets.subarray(0, at), Buffer.from([octet]), octets.subarray(at + 1)]));
    }
  });
});
