import { expect, test } from 'bun:test';
import {
  allToggled,
  MOST_SELECTED,
  type RowsByKey,
  toggled,
} from '../../../src/web/dashboard/web/application/ui/lists/selected.ts';

// The bounds of a selection: each selected row is one request.

const rows = (count: number, from = 0) =>
  Array.from({ length: count }, (_, at) => [`row_${from + at}`, from + at] as const);
const NONE: RowsByKey<number> = new Map();

test('a row is selected and taken out again, and none beyond the most', () => {
  expect([...toggled(toggled(NONE, 'a', 1), 'b', 2)]).toEqual([
    ['a', 1],
    ['b', 2],
  ]);
  expect(toggled(toggled(NONE, 'a', 1), 'a', 1).size).toBe(0);
  const last = new Map(rows(MOST_SELECTED - 1));
  const full = toggled(last, 'the last', 0);
  expect([full.size, full.has('the last')]).toEqual([MOST_SELECTED, true]);
  const beyond = toggled(full, 'one more', 0);
  expect([beyond.size, beyond.has('one more')]).toEqual([MOST_SELECTED, false]);
  expect(toggled(full, 'the last', 0).size).toBe(MOST_SELECTED - 1);
});

test.each([
  [0, 1],
  [0, MOST_SELECTED],
  [0, MOST_SELECTED + 1],
  // Those that are selected already take no room twice.
  [50, MOST_SELECTED],
  [MOST_SELECTED - 1, MOST_SELECTED],
])('with %i selected, all of %i rows are, up to the most', (selected, all) => {
  const next = allToggled(new Map(rows(selected)), rows(all));
  expect(next.size).toBe(Math.min(all, MOST_SELECTED));
  expect([...next.values()]).toEqual(rows(next.size).map(([, value]) => value));
});

test('all of a list are taken out where all are selected, and those of another filter stay while they are not', () => {
  expect(allToggled(new Map(rows(3)), rows(3)).size).toBe(0);
  expect([...allToggled(new Map(rows(2)), rows(2, 10)).keys()]).toEqual([
    'row_0',
    'row_1',
    'row_10',
    'row_11',
  ]);
});
