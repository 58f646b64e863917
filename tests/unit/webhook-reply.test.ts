import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { REPLY_MAX_LENGTH, ResponseHead } from '../../src/sending/webhooks/http/response-head.ts';

function textOf(body: string | Uint8Array, chunkSize = 7): string {
  const bytes = Buffer.from(body);
  const reply = new ResponseHead();
  for (let i = 0; i < bytes.length && !reply.isFull; i += chunkSize)
    reply.add(bytes.subarray(i, i + chunkSize));
  return reply.text();
}

describe('the beginning of a reply', () => {
  test.each([
    ['nothing', '', ''],
    ['a short reply', 'ok', 'ok'],
    ['exactly enough', 'x'.repeat(1000), 'x'.repeat(1000)],
    ['too much', 'x'.repeat(1001), 'x'.repeat(1000)],
    ['characters of two bytes', 'é'.repeat(2000), 'é'.repeat(1000)],
    ['characters of three bytes', '☃'.repeat(2000), '☃'.repeat(1000)],
    ['surrogate pairs', '🐎'.repeat(2000), '🐎'.repeat(500)],
    ['a pair across the limit', `a${'🐎'.repeat(2000)}`, `a${'🐎'.repeat(499)}`],
    ['a byte order mark', `\uFEFF${'☃'.repeat(2000)}`, '☃'.repeat(1000)],
    ['NUL, which PostgreSQL refuses', 'a\0b', 'a\uFFFDb'],
  ])('%s', (_name, body, kept) => {
    expect(textOf(body)).toBe(kept);
  });

  test('bytes that are not UTF-8 are shown as such', () => {
    expect(textOf(new Uint8Array([0x6f, 0xff, 0x6b]))).toBe('o\uFFFDk');
    expect(textOf(new Uint8Array(5000).fill(0xff))).toBe('\uFFFD'.repeat(1000));
    expect(textOf(Bun.gzipSync(Buffer.from('x'.repeat(100_000)))).length).toBeLessThanOrEqual(1000);
  });

  test('is the same however the bytes arrive, well formed, and never longer than the limit', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 4000 }),
        fc.integer({ min: 1, max: 4001 }),
        (bytes, chunkSize) => {
          const text = textOf(bytes, chunkSize);
          expect(text).toBe(textOf(bytes, 4001));
          expect(text.isWellFormed()).toBe(true);
          expect(text.length).toBeLessThanOrEqual(REPLY_MAX_LENGTH);
          expect(text).not.toContain('\0');
        },
      ),
    );
  });

  test('an endless body is full after three thousand bytes and holds no more', () => {
    const reply = new ResponseHead();
    reply.add(Buffer.alloc(3002, 'x'));
    expect(reply.isFull).toBe(false);
    reply.add(Buffer.alloc(1, 'x'));
    expect(reply.isFull).toBe(true);
    reply.add(Buffer.alloc(1_000_000, 'y'));
    expect(reply.text()).toBe('x'.repeat(1000));
  });
});
