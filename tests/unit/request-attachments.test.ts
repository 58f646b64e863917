import { describe, expect, test } from 'bun:test';
import type { Failure } from '../../src/platform/errors/failure.ts';
import { accepted, misshapen, places, plain, read } from './a-send-request.ts';

const base64 = (octets: number) => Buffer.alloc(octets, 1).toString('base64');

describe('attachments of a send request', () => {
  const one = (change: Record<string, unknown>) => ({
    attachments: [{ filename: 'a.txt', content: 'AAAA', ...change }],
  });

  test.each(['AA==', 'AAA=', 'AAAA', '+/+/', base64(10_000)])('hold base64: %#', (content) => {
    expect(accepted(one({ content })).attachments[0]?.size).toBe(Buffer.from(content, 'base64').length);
  });

  test.each([
    '',
    'A',
    'AA',
    'AAA',
    'AB==',
    'AAB=',
    'AAAA=',
    '====',
    'AA=A',
    'AA AA',
    'AAAA\n',
    'AA-_',
    'ÄAAA',
    'data:;base64,AAAA',
  ])('hold no %j', (content) => {
    expect(places(one({ content }))).toEqual(['/body/attachments/0/content']);
  });

  test.each(['report.pdf', 'Rechnung März.pdf', '.env', 'a..b', '👩‍👧.png', 'x'.repeat(255), 'a"b\'c;d.txt'])(
    'may be called %j',
    (filename) => {
      expect(accepted(one({ filename })).attachments[0]?.filename).toBe(filename);
    },
  );

  test.each([
    '',
    ' ',
    '.',
    '..',
    '../a',
    'a/b',
    'a\\b',
    'a\r\nb',
    'a\0',
    ' a',
    'a ',
    'annex\u202egpj.exe',
    'a\u200b.txt',
    'a\ud800',
    'x'.repeat(256),
    'é'.repeat(128),
  ])('are not called %j', (filename) => {
    const failure = read({ ...plain, ...one({ filename }) }) as Failure;
    expect(failure.extra.details?.map(({ path }) => path)).toEqual(['/body/attachments/0/filename']);
  });

  test.each([
    ['a.pdf', 'application/pdf'],
    ['a.TXT', 'text/plain'],
    ['a.b.csv', 'text/csv'],
    ['a.ics', 'text/calendar'],
    ['a', 'application/octet-stream'],
    ['a.unheard-of', 'application/octet-stream'],
    ['.env', 'application/octet-stream'],
  ])('%s is by itself %s', (filename, contentType) => {
    expect(accepted(one({ filename })).attachments[0]?.contentType).toBe(contentType);
  });

  test.each([
    'text/plain',
    'text/plain; charset=utf-8',
    'text/calendar;method="REQUEST"',
    'application/vnd.a-b+json',
  ])('may be %s', (contentType) => {
    expect(accepted(one({ contentType })).attachments[0]?.contentType).toBe(contentType);
  });

  test.each([
    '',
    'text',
    'text/',
    '/plain',
    'text/plain\r\nX: y',
    'text/plain;',
    'text/pl ain',
    'text/plain; a="b',
    'text/plain; a=b\n',
    'a/b/c',
  ])('are not %j', (contentType) => {
    expect(places(one({ contentType }))).toEqual(['/body/attachments/0/contentType']);
  });

  test('have separate content ids', () => {
    const ids = (...given: string[]) => ({
      attachments: given.map((contentId) => ({ filename: 'a.png', content: 'AAAA', contentId })),
    });
    expect(accepted(ids('logo', 'logo@acme.example', 'a.b')).attachments).toHaveLength(3);
    expect(places(ids('logo', 'logo'))).toEqual(['/body/attachments/1/contentId']);
    for (const id of ['', '<logo>', 'a b', 'a@b@c', 'a\nb', 'x'.repeat(129), '.a', 'a@']) {
      expect(places(ids(id))).toEqual(['/body/attachments/0/contentId']);
    }
  });

  test('are twenty at most', () => {
    expect(
      misshapen({ attachments: Array.from({ length: 21 }, () => ({ filename: 'a', content: 'AAAA' })) }),
    ).toEqual(['/body/attachments']);
  });

  test('fit into a message of 25 MiB', () => {
    const file = (megabytes: number) => one({ content: base64(megabytes * 1024 * 1024) });
    expect(accepted(file(18)).size).toBeLessThan(26_214_400);
    expect(places(file(20))).toEqual(['/body']);
    expect(places({ html: 'é'.repeat(11_000_000) })).toEqual(['/body']);
  });
});
