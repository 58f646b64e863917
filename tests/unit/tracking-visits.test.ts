import { describe, expect, test } from 'bun:test';
import { areOfScanner, scannerNetworkOf } from '../../src/audience/visits/visits.ts';

const click = (target: string, at: number, links: number) => ({
  type: 'clicked' as const,
  target,
  at,
  links,
});
const open = (at: number, links: number) => ({ type: 'opened' as const, target: '', at, links });

describe('visits of one network to one message', () => {
  const [a, b, c] = ['https://shop.example/a', 'https://shop.example/b', 'https://shop.example/c'] as const;

  test('are of a scanner once every link of two, or three of more, was followed within five seconds', () => {
    expect(areOfScanner([click(a, 0, 2), click(b, 5_000, 2)])).toBeTrue();
    expect(areOfScanner([click(a, 0, 2), click(b, 5_001, 2)])).toBeFalse();
    expect(areOfScanner([click(a, 0, 3), click(b, 10, 3)])).toBeFalse();
    expect(areOfScanner([open(0, 3), click(a, 10, 3), click(b, 20, 3), click(c, 30, 3)])).toBeTrue();
  });

  test('are of a scanner in whatever order they came, also after another click long before', () => {
    expect(
      areOfScanner([click(c, 9_000, 3), click(a, 0, 3), click(b, 8_000, 3), click(a, 7_000, 3)]),
    ).toBeTrue();
  });

  test('are of a person who follows one link again and again, opens, or reads a message with one link', () => {
    expect(areOfScanner([click(a, 0, 2), click(a, 1, 2), click(a, 2, 2)])).toBeFalse();
    expect(areOfScanner([open(0, 2), open(1, 2), open(2, 2), click(a, 3, 2)])).toBeFalse();
    expect(areOfScanner([click(a, 0, 1)])).toBeFalse();
    expect(areOfScanner([])).toBeFalse();
  });
});

test.each([
  ['192.0.2.17', '192.0.2.200', true],
  ['192.0.2.17', '192.0.3.17', false],
  ['2001:db8:7:1::1', '2001:db8:7:ffff::2', true],
  ['2001:db8:7:1::1', '2001:db8:8:1::1', false],
])('%s and %s are of one network: %p', (one, other, isSame) => {
  expect(scannerNetworkOf(one) === scannerNetworkOf(other)).toBe(isSame);
});
