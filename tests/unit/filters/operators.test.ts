import { describe, expect, test } from 'bun:test';
import { CASES, NOW, PEOPLE_OF_CASES } from '../../support/filter-cases.ts';
import { filterOf, matching } from '../../support/filtered-people.ts';

describe('a filter in memory', () => {
  test.each(CASES)('%j %j %j finds %j', (field, operator, value, ids) => {
    expect(matching(PEOPLE_OF_CASES, filterOf({ field, operator, value }), NOW)).toEqual([...ids]);
  });
});
