import { expect, test } from 'bun:test';
import { agoText, count } from '../../../src/web/dashboard/web/application/ui/display/format.ts';

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
