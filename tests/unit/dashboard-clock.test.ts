import { afterAll, describe, expect, test } from 'bun:test';
import { zones } from '../../src/platform/zones/zones.ts';
import {
  instantOf,
  localText,
  setClock,
  zoneLabel,
} from '../../src/web/dashboard/web/application/ui/display/clock.ts';
import {
  agoText,
  dayText,
  intervalText,
  momentText,
  momentTitle,
  timeText,
} from '../../src/web/dashboard/web/application/ui/display/format.ts';

const YEARS = 10 * 365 * 86_400_000;
const NOW = Date.UTC(2026, 10, 27);
const showIn = (timeZone: string): void =>
  setClock({ timeZone, changes: zones.changesOf(timeZone, NOW - YEARS, NOW + YEARS) });
afterAll(() => showIn('UTC'));

test.each([
  ['Europe/Vienna', 'Nov 22, 2026, 1:05:09 AM CET (Europe/Vienna)', '01:05:09.000 CET'],
  ['America/Vancouver', 'Nov 21, 2026, 5:05:09 PM MST (America/Vancouver)', '17:05:09.000 MST'],
  ['Asia/Kathmandu', 'Nov 22, 2026, 5:50:09 AM UTC+5:45 (Asia/Kathmandu)', '05:50:09.000 UTC+5:45'],
  ['America/Sao_Paulo', 'Nov 21, 2026, 9:05:09 PM UTC-3 (America/Sao_Paulo)', '21:05:09.000 UTC-3'],
  ['Australia/Lord_Howe', 'Nov 22, 2026, 11:05:09 AM UTC+11 (Australia/Lord_Howe)', '11:05:09.000 UTC+11'],
  ['+02:00', 'Nov 22, 2026, 2:05:09 AM UTC+2:00 (+02:00)', '02:05:09.000 UTC+2:00'],
  ['UTC', 'Nov 22, 2026, 12:05:09 AM UTC (UTC)', '00:05:09.000 UTC'],
])('a time is shown with its zone: %s', (zone, title, time) => {
  const at = '2026-11-22T00:05:09.000Z';
  showIn(zone);
  expect([momentTitle(at), timeText(Date.parse(at), Date.parse(at))]).toEqual([title, time]);
});

test('days are those of the zone, not of the computer', () => {
  showIn('Pacific/Kiritimati');
  expect([dayText('2026-12-31T10:00:00Z'), momentText('2026-12-31T12:00:00Z')]).toEqual([
    'Jan 1, 2027',
    'Jan 1, 2027, 2:00:00 AM UTC+14',
  ]);
  // New Year has come there already.
  const now = Date.parse('2026-12-31T10:30:00Z');
  expect(agoText('2026-12-20T00:00:00Z', now)).toBe('Dec 20, 2026');
  expect(agoText('2027-02-01T00:00:00Z', now)).toBe('Feb 1');
  expect(timeText(Date.parse('2026-12-31T09:00:00Z'), now)).toBe('2026-12-31 23:00:00.000 UTC+14');
});

test('intervals of analytics are called as the service has them', () => {
  expect([intervalText('2026-11-22T00:00', 'day'), intervalText('2026-11-22T14:00', 'hour')]).toEqual([
    'Nov 22',
    'Sun 14:00',
  ]);
});

describe.each([
  'Europe/Vienna',
  'America/Vancouver',
  'America/Havana',
  'Africa/Casablanca',
  'Australia/Lord_Howe',
  'Africa/Cairo',
  '+05:30',
])('a local time of %s', (zone) => {
  test('is the moment that the service takes it for, also where clocks change', () => {
    showIn(zone);
    const changes = zones.changesOf(zone, Date.UTC(2024, 0), Date.UTC(2029, 0));
    for (const { at } of changes)
      for (let minutes = -120; minutes <= 120; minutes += 15) {
        const local = zones.localAt(at + minutes * 60_000, zone).round('minute');
        const text = local.toString({ smallestUnit: 'minute' });
        const moment = new Date(zones.momentOf(local, zone)).toISOString();
        expect([text, instantOf(text)]).toEqual([text, moment]);
        // A time that the clocks leave out is none that they show.
        const skipped = local.add({ hours: 1 });
        const later = skipped.toString({ smallestUnit: 'minute' });
        expect([later, instantOf(later)]).toEqual([
          later,
          new Date(zones.momentOf(skipped, zone)).toISOString(),
        ]);
      }
  });
  test('comes back from the field as it went in', () => {
    showIn(zone);
    for (let day = 0; day < 800; day += 7) {
      const at = new Date(Date.UTC(2026, 0, 1, 12) + day * 86_400_000).toISOString();
      expect(instantOf(localText(at))).toBe(at);
    }
  });
});

test('an empty field is no time, and neither is what is no date', () => {
  expect([instantOf(''), instantOf(undefined), instantOf('soon')]).toEqual([undefined, undefined, undefined]);
});

test('what lies outside of what is known goes by the nearest rule', () => {
  showIn('Europe/Vienna');
  expect([zoneLabel(0), zoneLabel(Date.UTC(2100, 6))]).toEqual(['CET', expect.stringMatching(/^CES?T$/)]);
});
