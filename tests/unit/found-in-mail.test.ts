import { expect, test } from 'bun:test';
import { findInMail, MOST_FOUND } from '../../src/mail/content/found.ts';

const codes = (text: string) => findInMail('', text, null).codes;

test('codes stand alone: no numbers of orders, amounts, dates, links or addresses', () => {
  expect(codes('Your code: 4815. Or 481 516, 481-517, AB12CD9, code:90210, 12345678')).toEqual([
    '4815',
    '481516',
    '481517',
    'AB12CD9',
    '90210',
    '12345678',
  ]);
  expect(
    codes('#1842 order-1842 1842.50 1,842 123456789 2026-11-20 a1842 1842@a.example HELLO abc123'),
  ).toEqual([]);
  expect(codes('https://acme.example/481516?c=481517 @1842')).toEqual([]);
  expect(findInMail('481516 is your code', null, null).codes).toEqual(['481516']);
});

test('links are those of the web, each once, those of the html first', () => {
  const html =
    '<a href="https://a.example/?x=1&amp;y=2">1</a><a href="mailto:a@b.example">2</a><area href=" http://b.example ">';
  expect(findInMail('', 'See (https://a.example/?x=1&y=2), or http://c.example.', html).links).toEqual([
    'https://a.example/?x=1&y=2',
    'http://b.example',
    'http://c.example',
  ]);
});

test('what is reported of one mail is bounded, and so is the work', () => {
  const html = Array.from({ length: 300 }, (_, n) => `<a href="https://a.example/${n}">x</a>`).join('');
  const many = findInMail('', Array.from({ length: 300 }, (_, n) => 100_000 + n).join(' '), html);
  expect(many.links).toHaveLength(MOST_FOUND.links);
  expect(many.codes).toHaveLength(MOST_FOUND.codes);
  for (const text of [
    'A'.repeat(1e6),
    '1'.repeat(1e6),
    '111-'.repeat(250_000),
    'https://)'.repeat(1e5),
    `https://${')'.repeat(1e6)}x`,
  ])
    expect(findInMail('', text, '<a>'.repeat(1e5)).codes).toEqual([]);
});
