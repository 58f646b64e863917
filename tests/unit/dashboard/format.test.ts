import { expect, test } from 'bun:test';
import {
  agoText,
  count,
  listText,
  rateText,
  roundCount,
} from '../../../src/web/dashboard/web/application/ui/display/format.ts';

// The browser's own formatters are the oracle: making them takes too long for a page, not for a test.

test('a count has its thousands apart, as Intl.NumberFormat has them', () => {
  const whole = new Intl.NumberFormat('en');
  for (const value of [0, 7, 999, 1_000, 12_345, 999_999, 1_000_000, 1_234_567_890, -1, -1_000])
    expect(count(value)).toBe(whole.format(value));
});

test('a time is written as its distance, as by Intl.RelativeTimeFormat', () => {
  const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });
  const now = Date.UTC(2026, 10, 23, 12);
  const sizes = { minute: 60_000, hour: 3_600_000, day: 86_400_000 } as const;
  const most = { minute: 59, hour: 23, day: 7 } as const;
  for (const unit of ['minute', 'hour', 'day'] as const)
    for (let amount = 1; amount <= most[unit]; amount++)
      for (const sign of [1, -1] as const) {
        const at = new Date(now + sign * amount * sizes[unit]).toISOString();
        expect(agoText(at, now)).toBe(relative.format(sign * amount, unit));
      }
});

test('a large count has three digits, as in compact notation', () => {
  const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumSignificantDigits: 3 });
  const values = [
    0.5, 1, 999, 1_000, 9_994, 9_996, 12_345, 99_950, 999_499, 999_500, 1_234_567, 12e6, 2.5e9, 7e12,
  ];
  for (const value of values) expect(roundCount(value, 0)).toBe(compact.format(value));
  expect(roundCount(9_999)).toBe('9,999');
});

test('a rate has two decimals at most, as a percentage', () => {
  const percent = new Intl.NumberFormat('en', { style: 'percent', maximumFractionDigits: 2 });
  for (const rate of [0, 0.00004, 0.00005, 1 / 3, 0.5, 0.975, 0.99996, 1, 12.5])
    expect(rateText(rate)).toBe(percent.format(rate));
});

test('names are listed with an “and” before the last one', () => {
  const list = new Intl.ListFormat('en-GB');
  for (const names of [[], ['a'], ['a', 'b'], ['a', 'b', 'c, d']])
    expect(listText(names)).toBe(list.format(names));
});
