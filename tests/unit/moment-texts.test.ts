import { expect, test } from 'bun:test';
import { isoOf } from '../../src/platform/db/wire/values.ts';

// The text that PostgreSQL gives of a moment, as the ISO 8601 of an answer.

test.each([
  ['2026-11-22 14:38:00+00', '2026-11-22T14:38:00.000Z'],
  ['2026-11-22 14:38:00.1+00', '2026-11-22T14:38:00.100Z'],
  ['2026-11-22 14:38:00.12+00', '2026-11-22T14:38:00.120Z'],
  ['2026-11-22 14:38:00.123+00', '2026-11-22T14:38:00.123Z'],
  // Values that need more than concatenation: microseconds, and a server with a time zone.
  ['2026-11-22 14:38:00.123456+00', '2026-11-22T14:38:00.123Z'],
  ['2026-11-22 15:38:00.123+01', '2026-11-22T14:38:00.123Z'],
  ['2026-11-22 20:08:00+05:30', '2026-11-22T14:38:00.000Z'],
])('%s is %s', (moment, iso) => {
  expect(isoOf(moment)).toBe(iso);
});

test('no moment is none', () => {
  expect(isoOf(null)).toBeNull();
});
