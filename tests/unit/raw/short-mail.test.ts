import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { createMailReader, type MailReader } from '../../../src/mail/reading/mail-reader.ts';
import { isShort } from '../../../src/mail/reading/mail-size.ts';
import { readSubmitted } from '../../../src/mail/submission/submitted.ts';
import { costMsOf } from '../../support/own-time.ts';

const HEAD = 'From: Shop <shop@sender.example>\r\nTo: ada@example.com\r\nMIME-Version: 1.0\r\n';
const OCTETS = 16_384;
const HEADER = 4_096;

/** A message of so many octets, with so many of them in its header. */
const messageOf = (octets: number, header: number, fill: string): Buffer => {
  const field = `Cc: ${fill.repeat(header)}`.slice(0, header - HEAD.length - 2);
  const body = fill.repeat(octets).replace(/[^\r\n]{900}/g, '$&\r\n');
  return Buffer.from(`${HEAD}${field}\r\n\r\n${body}`.slice(0, octets), 'latin1');
};

describe('a short message', () => {
  let reader: MailReader;
  beforeAll(() => {
    const own = { threads: 1, deadlineMs: 15_000, startMs: 10_000, mostWaiting: 8, idleMs: 60_000 };
    reader = createMailReader({ own });
  });
  afterAll(() => reader.close());

  test('is read while the threads are busy, and in the same way as there', async () => {
    const order: string[] = [];
    const note = (name: string) => (mail: unknown) => {
      order.push(name);
      return mail;
    };
    const body = 'Gr\xc3\xbc\xc3\x9fe\r\n';
    const long = Buffer.from(`${HEAD}\r\n${body}${' \r\n'.repeat(10_000)}`, 'latin1');
    const short = Buffer.from(`${HEAD}\r\n${body}`, 'latin1');
    const [inThread, here, raw] = (await Promise.all([
      reader.submission(long, [], 'ws_1').then(note('in the thread')),
      reader.submission(short, [], 'ws_1').then(note('here')),
      reader.raw(Buffer.from(short), 'ws_1').then(note('here')),
    ])) as { from: unknown; text: string; octets: Uint8Array }[];
    expect(order).toEqual(['here', 'here', 'in the thread']);
    expect<unknown>(here).toEqual(raw);
    expect(Buffer.from(here?.octets ?? []).equals(short)).toBe(true);
    expect([inThread?.from, inThread?.text.trimEnd()]).toEqual([here?.from, here?.text.trimEnd()]);
  });

  test.each([
    ['octets', messageOf(OCTETS, 500, 'a'), messageOf(OCTETS + 1, 500, 'a')],
    ['octets of header', messageOf(9_000, HEADER, 'a'), messageOf(9_000, HEADER + 1, 'a')],
    ['parts', Buffer.from('--\n'.repeat(17)), Buffer.from('\n--'.repeat(17))],
    ['lines', Buffer.from('a\n'.repeat(512)), Buffer.from('a\n'.repeat(513))],
  ])('has bounded %s', (_, within, beyond) => {
    expect([isShort(within), isShort(beyond)]).toEqual([true, false]);
  });

  // Of the worst of 4,665 shapes 10 ms were taken on a busy machine. Reading that is quadratic takes some
  // hundred.
  test.each([':', ';,', '"', '(', 'a b <a@b>,', '=?utf-8?B?YQ==?= ', '\xc3\xbc', '= ', '=0', '<a '])(
    'of %p alone takes the thread that answers requests a moment',
    async (fill) => {
      const message = messageOf(OCTETS, HEADER, fill);
      expect(isShort(message)).toBe(true);
      let least = Number.POSITIVE_INFINITY;
      for (let run = 0; run < 5 && least >= 40; run++)
        least = Math.min(least, await costMsOf(() => readSubmitted(Buffer.from(message), [])));
      expect(least).toBeLessThan(40);
    },
  );
});
