import { expect, test } from 'bun:test';
import { MOST_COUNTED as MOST_OF_SERVICE } from '../../../src/http/lists/count.ts';
import { countText, MOST_COUNTED } from '../../../src/web/dashboard/web/application/ui/lists/list-count.ts';
import { countText as stateCountText } from '../../../src/web/dashboard/web/application/ui/machine/words.ts';

// The number above a list, at each bound of what the page and the service know.

const EMAILS = ['email', 'emails'] as const;
const rows = (count: number) => Array.from({ length: count });
const text = (loaded: number | null, hasNextPage: boolean, counted?: { count: number; isExact: boolean }) =>
  countText({ items: loaded === null ? undefined : rows(loaded), hasNextPage }, counted, EMAILS);

test('the page and the service count up to the same number', () => {
  expect(MOST_COUNTED).toBe(MOST_OF_SERVICE);
});

test.each([
  ['before anything has been read', null, false, undefined, null],
  ['of an empty list', 0, false, undefined, '0 emails'],
  ['of one row', 1, false, undefined, '1 email'],
  ['of a whole list, whatever was counted before', 3, false, { count: 9, isExact: true }, '3 emails'],
  ['before the answer of the count', 50, true, undefined, 'at least 50 emails'],
  ['that is exact', 50, true, { count: 1_204, isExact: true }, '1,204 emails'],
  ['that is exact at the bound', 50, true, { count: 10_000, isExact: true }, '10,000 emails'],
  ['beyond the bound', 50, true, { count: 10_000, isExact: false }, 'more than 10,000 emails'],
  [
    'of a filter that stopped at the bound',
    50,
    true,
    { count: 9_999, isExact: false },
    'at least 9,999 emails',
  ],
  ['that has no match yet', 50, true, { count: 0, isExact: false }, 'at least 50 emails'],
  ['that is older than the rows', 60, true, { count: 51, isExact: true }, 'at least 60 emails'],
  ['that the rows have reached', 60, true, { count: 60, isExact: true }, '60 emails'],
] as const)('a count %s', (_, loaded, hasNextPage, counted, shown) => {
  expect(text(loaded, hasNextPage, counted)).toBe(shown);
});

test.each([
  [null, '0'],
  [{ count: 0, exact: true }, '0'],
  [{ count: 99_999, exact: true }, '99,999'],
  [{ count: 100_000, exact: true }, '100K'],
  [{ count: 1_234_567, exact: true }, '1.23M'],
  [{ count: 10_000, exact: false }, '≈ 10,000'],
  [{ count: 99_999, exact: false }, '≈ 99,999'],
  [{ count: 100_000, exact: false }, '≈ 100K'],
])('the number on the card of a state: %j', (count, shown) => {
  expect(stateCountText(count)).toBe(shown);
});
