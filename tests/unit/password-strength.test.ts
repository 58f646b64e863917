import { expect, test } from 'bun:test';
import { bitsOf } from '../../src/web/dashboard/web/application/ui/forms/password-strength.ts';

test('the meter counts what a guesser has to find: not length alone, and not kinds of characters alone', () => {
  const order = [
    'abcdefghijklmnop',
    'Ab1!',
    'aaaaaaaaaaaaaaaaaaaaaaaa',
    'qwertzuiopas',
    'four unrelated words, at least',
  ];
  const bits = order.map(bitsOf);
  expect(bits).toEqual(bits.toSorted((a, b) => a - b));
  expect(bitsOf('')).toBe(0);
  // Weak below 40 bits, strong from 80 on.
  expect(bitsOf('aaaaaaaaaaaaaaaaaaaaaaaa')).toBeLessThan(40);
  expect(bitsOf('correct horse battery staple')).toBeGreaterThan(80);
  expect(bitsOf('password1234')).toBeLessThan(40);
  expect(bitsOf('Welcome2026!')).toBeLessThan(bitsOf('horse battery'));
  expect(bitsOf('🐎🐴🦄🐕🐈🐁🐇🐿')).toBeGreaterThan(40);
});
