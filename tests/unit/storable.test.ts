import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { storableJson, storableText, storableTexts } from '../../src/platform/db/storable.ts';

/** Texts of which every other one has something that PostgreSQL refuses, or looks as if it had. */
const anyText = fc
  .array(
    fc.constantFrom('a', '\0', '\ud83d', '\ude00', '😀', '\\', 'u0000', '\\u0000', '\\ud83d', '"', '\n', 'ä'),
  )
  .map((parts) => parts.join(''));

const shown = (text: string): string => text.toWellFormed().replaceAll('\0', '\uFFFD');

describe('text from outside made storable', () => {
  test.each([
    ['as it is', '250 ok', '250 ok'],
    ['without NUL', '250 \0 ok', '250 \uFFFD ok'],
    ['without half a pair', '250 \ud83d ok', '250 \uFFFD ok'],
    ['cut', 'x'.repeat(30), 'x'.repeat(20)],
    ['cut before a pair that would be halved', `${'x'.repeat(19)}😀`, 'x'.repeat(19)],
    ['cut behind a pair', `${'x'.repeat(18)}😀x`, `${'x'.repeat(18)}😀`],
  ])('is kept %s', (_, text, kept) => expect(storableText(text, 20)).toBe(kept));

  test('is well formed, without NUL and no longer than it may be, whatever it was', () => {
    fc.assert(
      fc.property(anyText, fc.integer({ min: 1, max: 30 }), (text, max) => {
        const kept = storableText(text, max);
        expect(kept.isWellFormed()).toBeTrue();
        expect(kept).not.toContain('\0');
        expect(kept.length).toBeLessThanOrEqual(max);
        expect(shown(text).startsWith(kept)).toBeTrue();
      }),
    );
  });

  test('is found in a record beside what is no text', () => {
    expect(storableTexts({ a: '\0', b: 1, c: null, d: 'xyz' }, 2)).toEqual({
      a: '\uFFFD',
      b: 1,
      c: null,
      d: 'xy',
    });
  });
});

describe('JSON from outside made storable', () => {
  test('keeps what only looks like NUL or half a pair', () => {
    for (const text of ['\\u0000', '\\\\u0000', 'C:\\udata', '\\ud83d', '\u001f', '😀'])
      expect(JSON.parse(storableJson(JSON.stringify([text, '\0'])))).toEqual([text, '\uFFFD']);
  });

  test('that has nothing of it is handed back as it is', () => {
    const json = JSON.stringify({ text: 'C:\\new\\data "😀"' });
    expect(storableJson(json)).toBe(json);
  });

  test('says the same as before, but for NUL and half pairs, in names as well as in values', () => {
    fc.assert(
      fc.property(anyText, anyText, (name, value) => {
        const json = storableJson(JSON.stringify({ [`n${name}`]: [value, { value }] }));
        expect(JSON.parse(json)).toEqual({ [`n${shown(name)}`]: [shown(value), { value: shown(value) }] });
      }),
    );
  });
});
