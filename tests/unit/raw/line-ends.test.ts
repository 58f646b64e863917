import { expect, test } from 'bun:test';
import { withLineEnds } from '../../../src/mail/raw/line-ends.ts';
import { costMs } from '../../support/own-time.ts';

const MIB = 1_048_576;
const ended = (text: string, most = 1_000): string | undefined =>
  withLineEnds(Buffer.from(text), most)?.toString();

test.each([
  ['', ''],
  ['a\r\nb\r\n', 'a\r\nb\r\n'],
  ['a\nb\n', 'a\r\nb\r\n'],
  ['a\rb\r', 'a\r\nb\r\n'],
  ['\n\r\n\r', '\r\n\r\n\r\n'],
  ['\r\ra\r\r', '\r\n\r\na\r\n\r\n'],
  // Lines of a file with CRLF, to which a program has added a CR.
  ['a\r\r\nb\r\r\n', 'a\r\nb\r\n'],
  ['a\r\r\r\n\r\r\n\n', 'a\r\n\r\n\r\n'],
])('%j has CRLF at each line: %j', (text, whole) => {
  expect(ended(text)).toBe(whole);
  expect(ended(text, whole.length)).toBe(whole);
  expect(ended(text, whole.length - 1)).toBeUndefined();
});

test('a message that needs nothing is not copied', () => {
  const raw = Buffer.from('a\r\nb\r\n');
  expect(withLineEnds(raw, 6)).toBe(raw);
});

test.each([
  ['CRLF and one CR', Buffer.concat([Buffer.alloc(30 * MIB, '\r\n'), Buffer.from('\r')])],
  ['LF', Buffer.alloc(16 * MIB, '\n')],
  ['CR', Buffer.alloc(16 * MIB, '\r')],
  ['CR CR LF', Buffer.alloc(32 * MIB, '\r\r\n')],
  ['more LF than a message may have', Buffer.alloc(32 * MIB, '\n')],
])('%s: it takes little time', (_, raw) => {
  expect(costMs(() => withLineEnds(raw, 32 * MIB))).toBeLessThan(1_500);
});
