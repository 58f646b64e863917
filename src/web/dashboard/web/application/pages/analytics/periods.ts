import { localText } from '../../ui/display/clock.ts';

/** The periods that people choose from: days back from now. */
export const PERIODS = {
  '1': 'Last 24 hours',
  '7': 'Last 7 days',
  '30': 'Last 30 days',
  '90': 'Last 90 days',
  '365': 'Last 12 months',
} as const;
export type Period = keyof typeof PERIODS;

const DAY_MS = 86_400_000;
const QUARTER_MS = 900_000;

/**
 * The range of a period: hours of the last day, days of longer periods. Its start is rounded to a quarter of
 * an hour, so that two visits send the same query.
 */
export function rangeOf(period: Period): { readonly from?: string; readonly interval?: 'hour' | 'day' } {
  if (period === '30') return {};
  if (period === '1') return { interval: 'hour' };
  const from = Math.floor((Date.now() - (Number(period) - 1) * DAY_MS) / QUARTER_MS) * QUARTER_MS;
  return { from: localText(new Date(from).toISOString()).slice(0, 10) };
}
