import { describe, expect, test } from 'bun:test';
import {
  type PropertyType,
  WAYS,
  waysOf,
} from '../../../src/web/dashboard/web/application/pages/audiences/fields.ts';
import { ticksOf } from '../../../src/web/dashboard/web/application/ui/display/format.ts';

describe('the comparisons of a property', () => {
  const textsOf = (types: readonly PropertyType[] | undefined) =>
    waysOf('property', types).map(({ text }) => text);

  test.each<[string, readonly PropertyType[], string, string]>([
    ['a number', ['number'], 'is more than', 'contains'],
    ['a text', ['string'], 'contains', 'is more than'],
    ['true or false', ['boolean'], 'is true or false:', 'before'],
    ['a date', ['date'], 'before', 'is more than'],
  ])('of %s are those that can match', (_, types, offered, left) => {
    expect(textsOf(types)).toContain(offered);
    expect(textsOf(types)).not.toContain(left);
    expect(textsOf(types)).toEqual(expect.arrayContaining(['is known', 'is empty']));
  });

  test('of an unknown property are all of them', () => {
    expect(waysOf('property', undefined)).toBe(WAYS.property);
    expect(waysOf('property', [])).toBe(WAYS.property);
    expect(waysOf('text', ['number'])).toBe(WAYS.text);
  });

  test('of a property with several types are those of each', () => {
    expect(textsOf(['number', 'string'])).toEqual(expect.arrayContaining(['is more than', 'contains']));
  });

  test('keep the one that a stored filter has', () => {
    const [first] = WAYS.property;
    expect(waysOf('property', ['number'], first)).toContain(first as never);
  });
});

test.each([
  [0, []],
  [1, [0]],
  [3, [0, 1, 2]],
  [30, [0, 7, 15, 22, 29]],
])('a chart of %i points has labels at even distances', (number, ticks) => {
  expect(ticksOf(Array.from({ length: number }, (_, index) => index))).toEqual(ticks);
});
