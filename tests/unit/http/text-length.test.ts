import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { firstCharacters, isLonger, isShorter } from '../../../src/platform/errors/text-length.ts';

const text = fc.string({ unit: 'binary', maxLength: 12 });
const bound = fc.integer({ min: 0, max: 13 });

test('a text is longer or shorter by its code points', () => {
  fc.assert(
    fc.property(text, bound, (value, count) => {
      const characters = [...value].length;
      expect([isLonger(value, count), isShorter(value, count)]).toEqual([
        characters > count,
        characters < count,
      ]);
    }),
  );
});

test('the first characters of a text are whole, and no more than there are', () => {
  fc.assert(
    fc.property(text, bound, (value, count) => {
      const first = firstCharacters(value, count);
      expect([first.isWellFormed(), [...first].length]).toEqual([true, Math.min([...value].length, count)]);
      expect(value.startsWith(first)).toBe(true);
    }),
  );
});
