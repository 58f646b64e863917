import { describe, expect, test } from 'bun:test';
import { Problems } from '../../../src/platform/filters/condition.ts';
import { readFilter } from '../../../src/platform/filters/tree.ts';
import { CASES, NOW, PEOPLE_OF_CASES } from '../../support/filter-cases.ts';
import { filterOf, matching, PEOPLE } from '../../support/filtered-people.ts';

const TRUE = { field: 'name', operator: 'exists', value: true };

const problemsOf = (value: unknown): readonly (readonly [path: string, message: string])[] => {
  const filter = readFilter(value, '/body/filter', PEOPLE);
  if (!(filter instanceof Problems)) throw new Error('This was taken as a filter.');
  return filter.details.map(({ path, message }) => [path, message] as const);
};
const pathsOf = (value: unknown): readonly string[] => problemsOf(value).map(([path]) => path);

const nested = (levels: number): unknown => (levels === 1 ? TRUE : { not: nested(levels - 1) });
const conditions = (count: number): unknown[] => Array.from({ length: count }, () => TRUE);

describe('a filter in memory', () => {
  test.each(CASES)('%j %j %j finds %j', (field, operator, value, ids) => {
    expect(matching(PEOPLE_OF_CASES, filterOf({ field, operator, value }), NOW)).toEqual([...ids]);
  });
});

describe('filters are joined', () => {
  const pro = { field: 'properties.plan', operator: 'eq', value: 'pro' };
  const old = { field: 'createdAt', operator: 'lte', value: '2026-11-15T12:00:00Z' };
  test.each([
    [{ and: [TRUE, pro] }, [2]],
    [{ or: [old, pro] }, [2, 3, 4]],
    [{ not: { or: [old, pro] } }, [1, 5]],
    [{ not: { not: pro } }, [2]],
    [{ and: [{ not: pro }, { or: [old, { not: TRUE }] }] }, [1, 3, 4]],
  ])('%j', (tree, ids) => {
    expect(matching(PEOPLE_OF_CASES, filterOf(tree), NOW)).toEqual(ids);
  });
});

describe('limits', () => {
  test('8 levels are taken, 9 are not', () => {
    expect(matching(PEOPLE_OF_CASES, filterOf(nested(8)), NOW)).toEqual([1]);
    expect(problemsOf(nested(9))).toEqual([[`/body/filter${'/not'.repeat(8)}`, 'Nest at most 8 levels.']]);
    expect(problemsOf(nested(5_000))).toHaveLength(1);
  });

  test('50 conditions are taken, 51 are not, wherever they stand', () => {
    expect(filterOf({ and: conditions(50) })).toBeDefined();
    expect(problemsOf({ and: conditions(51) })).toEqual([
      ['/body/filter/and/50', 'Use at most 50 conditions in one filter.'],
    ]);
    expect(pathsOf({ and: [{ or: conditions(30) }, { or: conditions(30) }, TRUE, 7] })).toEqual([
      '/body/filter/and/1/or/20',
    ]);
  });

  test('a list as long as a body is left at the first 20 problems', () => {
    let read = 0;
    const wrong = new Proxy(Array<unknown>(200_000).fill({ and: [] }), {
      get: (list, name) => {
        if (typeof name === 'string' && /^\d+$/.test(name)) read++;
        return Reflect.get(list, name);
      },
    });
    expect(problemsOf({ or: wrong })).toHaveLength(20);
    expect(read).toBe(20);
  });

  test.each([
    ['name', 'eq', 'x'.repeat(1_000), 'x'.repeat(1_001), ''],
    ['name', 'eq', '😀'.repeat(1_000), '😀'.repeat(1_001), ''],
    ['name', 'in', Array<string>(100).fill('a'), Array<string>(101).fill('a'), ''],
    ['name', 'in', ['a'], [], ''],
    [
      'createdAt',
      'withinLast',
      { amount: 10_000, unit: 'weeks' },
      { amount: 10_001, unit: 'weeks' },
      '/amount',
    ],
    ['createdAt', 'withinLast', { amount: 1, unit: 'days' }, { amount: 0, unit: 'days' }, '/amount'],
    ['createdAt', 'after', '9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999-00:01', ''],
    ['createdAt', 'after', '0001-01-01T00:00:00Z', '0001-01-01T00:00:00+00:01', ''],
    ['createdAt', 'after', '2024-02-29', '2026-02-29', ''],
    ['createdAt', 'after', '2026-01-01T00:00:00+15:59', '2026-01-01T00:00:00+16:00', ''],
    ['name', 'contains', ' ', '', ''],
    ['name', 'eq', '\u0001', '\0', ''],
    ['name', 'eq', '\ud83d\ude00', '\ud83d', ''],
  ])('%s %s, on either side of the limit', (field, operator, last, beyond, path) => {
    expect(filterOf({ field, operator, value: last })).toBeDefined();
    expect(pathsOf({ field, operator, value: beyond })).toEqual([`/body/filter/value${path}`]);
  });

  test('of the name of a property', () => {
    const named = (key: string) => ({ field: `properties.${key}`, operator: 'exists', value: true });
    expect(filterOf(named('k'.repeat(64)))).toBeDefined();
    for (const key of ['', 'k'.repeat(65), '1a', '__proto__', 'a.b', "a'", 'ä'])
      expect(pathsOf(named(key))).toEqual(['/body/filter/field']);
  });
});

describe('problems', () => {
  test.each([
    [null, ['']],
    ['name', ['']],
    [[], ['']],
    [{}, ['']],
    [{ and: [TRUE], or: [TRUE] }, ['']],
    [{ and: TRUE }, ['/and']],
    [{ or: [] }, ['/or']],
    [{ not: [TRUE] }, ['/not']],
    [{ ...TRUE, 'a/b': 1 }, ['/a~1b']],
    [{ field: 'name' }, ['/operator', '/value']],
    [{ field: 'toString', operator: 'eq', value: '' }, ['/field']],
    [{ field: 7, operator: 'like', value: '' }, ['/field', '/operator']],
    [{ field: 'name', operator: 'gt', value: 1 }, ['/operator']],
    [{ field: 'name', operator: 'constructor', value: 1 }, ['/operator']],
    [{ field: 'audiences', operator: 'exists', value: true }, ['/operator']],
    [{ field: 'name', operator: 'in', value: ['a', 1, null] }, ['/value/1', '/value/2']],
    [{ field: 'score', operator: 'eq', value: '50' }, ['/value']],
    [{ field: 'score', operator: 'eq', value: Number.POSITIVE_INFINITY }, ['/value']],
    [{ field: 'subscribed', operator: 'eq', value: 'true' }, ['/value']],
    [{ field: 'name', operator: 'exists', value: 'yes' }, ['/value']],
    [{ field: 'properties.a', operator: 'gt', value: 'abc' }, ['/value']],
    [{ field: 'properties.a', operator: 'eq', value: null }, ['/value']],
    [{ field: 'properties.a', operator: 'eq', value: { b: 1 } }, ['/value']],
    [{ field: 'createdAt', operator: 'olderThan', value: 'P7D' }, ['/value']],
    [
      { field: 'createdAt', operator: 'olderThan', value: { amount: 1.5, unit: 'years', x: 1 } },
      ['/value/amount', '/value/unit', '/value'],
    ],
  ])('%j', (tree, paths) => {
    expect(pathsOf(tree)).toEqual(paths.map((path) => `/body/filter${path}`));
  });

  test('are reported all at once, with what is known there', () => {
    expect(
      problemsOf({
        and: [
          { field: 'nme', operator: 'eq', value: 'a' },
          TRUE,
          { not: { field: 'subscribed', operator: 'gt', value: 1 } },
          { field: 'subscribed', value: true },
        ],
      }),
    ).toEqual([
      [
        '/body/filter/and/0/field',
        'No such field; known are name, score, subscribed, createdAt, audiences, activity.opened, properties.<key>.',
      ],
      ['/body/filter/and/2/not/operator', 'No such operator here; known are eq, neq, exists, isEmpty.'],
      ['/body/filter/and/3/operator', 'This is required; known are eq, neq, exists, isEmpty.'],
    ]);
  });
});
