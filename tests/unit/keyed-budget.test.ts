import { expect, test } from 'bun:test';
import { KeyedBudget } from '../../src/platform/async/keyed-budget.ts';

test('a keyed budget gives each key so much and no more', () => {
  const budget = new KeyedBudget({ total: 100, each: 3 });
  expect([budget.take('a', 2), budget.take('a'), budget.take('a')]).toEqual([true, true, false]);
  expect(budget.take('b', 3)).toBeTrue();
});

test('a keyed budget gives all keys together so much and no more, and a refusal takes nothing', () => {
  const budget = new KeyedBudget({ total: 5, each: 3 });
  expect([budget.take('a', 3), budget.take('b', 3), budget.take('b', 2), budget.take('c')]).toEqual([
    true,
    false,
    true,
    false,
  ]);
});

test('what is given back to a keyed budget can be taken again, by the same key or another', () => {
  const budget = new KeyedBudget({ total: 3, each: 3 });
  expect(budget.take('a', 3)).toBeTrue();
  budget.give('a', 2);
  expect([budget.take('b', 2), budget.take('a')]).toEqual([true, false]);
  budget.give('b', 2);
  expect(budget.take('a', 2)).toBeTrue();
});
