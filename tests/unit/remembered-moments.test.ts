import { expect, test } from 'bun:test';
import { isoOf } from '../../src/platform/time/clock.ts';

const NOW = Date.UTC(2026, 10, 24, 12);

test('moments that fall on one remembered place are distinguished, whatever came before', () => {
  const moments = [NOW, NOW + 64, NOW, NOW + 64 * 1_000, 0, -64, 64, 0.5, 0, 8.64e15, NOW];
  for (const at of moments) expect(isoOf(at)).toBe(new Date(at).toISOString());
});

test('a moment that no date can be is refused each time', () => {
  for (const at of [Number.NaN, 8.64e15 + 64, Number.POSITIVE_INFINITY])
    for (let times = 0; times < 2; times++) expect(() => isoOf(at)).toThrow(RangeError);
});
