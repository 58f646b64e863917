import { expect, test } from 'bun:test';
import { Failure } from '../../src/platform/errors/failure.ts';
import { readPeriod } from '../../src/sending/analytics/period.ts';

function daysOf(timeZone: string, from: string, to: string): readonly string[] {
  const period = readPeriod({ from, to, interval: 'day', timeZone }, Date.UTC(2026, 0));
  if (period instanceof Failure) throw period;
  return period.starts.map((at) => new Date(at).toISOString());
}

test('a day that the zone left out has no point', () => {
  const days = ['2011-12-29T10:00:00.000Z', '2011-12-30T10:00:00.000Z'];
  expect(daysOf('Pacific/Apia', '2011-12-29', '2012-01-01')).toEqual(days);
  expect(daysOf('Pacific/Apia', '2011-12-30', '2012-01-01')).toEqual(['2011-12-30T10:00:00.000Z']);
});

test('a day without a midnight begins at its first moment', () => {
  expect(daysOf('America/Sao_Paulo', '2018-11-03', '2018-11-06')).toEqual([
    '2018-11-03T03:00:00.000Z',
    '2018-11-04T03:00:00.000Z',
    '2018-11-05T02:00:00.000Z',
  ]);
});
