import { expect, test } from 'bun:test';
import { exitIn } from '../../src/sending/captured/queries.ts';
import { costMs } from '../support/own-time.ts';

test('the web address of List-Unsubscribe is found among others', () => {
  expect(exitIn('<mailto:off@a.example>, <HTTPS://a.example/off?x=1>')).toBe('HTTPS://a.example/off?x=1');
  expect(exitIn(`<https://a.example/${'a'.repeat(2_030)}>`)).not.toBeNull();
  expect(exitIn(`<https://a.example/${'a'.repeat(2_048)}>`)).toBeNull();
  expect(exitIn('')).toBeNull();
});

test('brackets without an end cost time that grows with their number alone', () => {
  // Five seconds without a bound.
  expect(costMs(() => exitIn('<http:'.repeat(43_690)))).toBeLessThan(200);
  expect(costMs(() => exitIn(`<http:${'a'.repeat(262_000)}`))).toBeLessThan(200);
});
