import { expect, test } from 'bun:test';
import { allowedOn, bulkPartOf, DEFAULT_PER_DAY, dayOf } from '../../src/mail/transport/warm-up.ts';

const warmUp = { provider: 'smtp', startedAt: '2026-11-20T23:59:59.999Z', perDay: [10, 20, 30] } as const;
const at = (text: string): number => Date.parse(text);

test('the day that it began in is the first, and a day ends with the date in UTC', () => {
  const days: readonly (readonly [string, number, number | null])[] = [
    ['2026-11-19T12:00:00.000Z', 0, 10],
    ['2026-11-20T00:00:00.000Z', 0, 10],
    ['2026-11-20T23:59:59.999Z', 0, 10],
    ['2026-11-21T00:00:00.000Z', 1, 20],
    ['2026-11-22T23:59:59.999Z', 2, 30],
    ['2026-11-23T00:00:00.000Z', 3, null],
    ['2027-11-23T00:00:00.000Z', 368, null],
  ];
  for (const [when, day, allowed] of days)
    expect([when, dayOf(warmUp, at(when)), allowedOn(warmUp, at(when))]).toEqual([when, day, allowed]);
});

test('the default grows by two fifths a day for thirty days', () => {
  expect(DEFAULT_PER_DAY).toHaveLength(30);
  expect(DEFAULT_PER_DAY.slice(0, 8)).toEqual([50, 70, 98, 140, 190, 270, 380, 530]);
  expect(DEFAULT_PER_DAY.at(-1)).toBe(860_000);
  for (const [day, allowed] of DEFAULT_PER_DAY.entries())
    if (day > 0) expect(allowed / (DEFAULT_PER_DAY[day - 1] ?? 0)).toBeWithin(1.3, 1.5);
});

test('campaigns may have four fifths of a day, and one at least', () => {
  expect([1, 2, 5, 50, 98].map(bulkPartOf)).toEqual([1, 1, 4, 40, 78]);
});
