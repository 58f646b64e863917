import { expect, test } from 'bun:test';
import { RecentCount } from '../../src/platform/async/recent-count.ts';

test('a count of the last second forgets what is older, a quarter of a second at a time', () => {
  let now = 10_000;
  const count = new RecentCount(() => now);
  expect(count.perSecond).toBe(0);
  for (let n = 0; n < 3; n++) count.note();
  now += 600;
  count.note();
  expect(count.perSecond).toBe(4);
  now += 600;
  expect(count.perSecond).toBe(4);
  now += 100;
  expect(count.perSecond).toBe(1);
  now += 86_400_000;
  expect(count.perSecond).toBe(0);
  count.note();
  expect(count.perSecond).toBe(1);
});
