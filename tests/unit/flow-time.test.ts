import { describe, expect, test } from 'bun:test';
import { delayEnd, occurrencesOf, quietUntil, untilMoment } from '../../machines/flow-run/time.ts';
import { comesWithin } from '../../src/automation/flows/triggers/dated.ts';

const at = (text: string): number => Date.parse(text);
const told = (moment: number | null): string | null =>
  moment === null ? null : new Date(moment).toISOString().slice(0, 16);

describe('the end of a delay', () => {
  test.each([
    // A day ends at the same time of the day, however long it is.
    ['2026-03-28T09:00Z', 1, 'days', 'Europe/Vienna', '2026-03-29T08:00'],
    ['2026-10-24T08:00Z', 1, 'days', 'Europe/Vienna', '2026-10-25T09:00'],
    ['2026-10-24T08:00Z', 24, 'hours', 'Europe/Vienna', '2026-10-25T08:00'],
    ['2026-03-28T23:59Z', 90, 'minutes', 'Europe/Vienna', '2026-03-29T01:29'],
    ['2026-03-01T12:00Z', 2, 'weeks', 'America/New_York', '2026-03-15T11:00'],
    // 02:30 does not exist on that day, and comes twice on the other.
    ['2026-03-28T01:30Z', 1, 'days', 'Europe/Vienna', '2026-03-29T01:30'],
    ['2026-10-24T00:30Z', 1, 'days', 'Europe/Vienna', '2026-10-25T00:30'],
    ['2028-02-28T10:00Z', 1, 'days', 'UTC', '2028-02-29T10:00'],
    ['2026-12-31T10:30Z', 1, 'days', '+14:00', '2027-01-01T10:30'],
    ['2026-12-31T11:30Z', 1, 'days', '-12:00', '2027-01-01T11:30'],
    // Lord Howe Island moves by half an hour.
    ['2026-04-04T00:00Z', 1, 'days', 'Australia/Lord_Howe', '2026-04-05T00:30'],
  ] as const)('%s and %d %s in %s', (from, amount, unit, zone, end) => {
    expect(told(delayEnd(at(from), { amount, unit }, zone))).toBe(end);
  });
});

describe('the next time of a day', () => {
  test.each([
    ['2026-11-22T07:59Z', { time: '09:00' }, 'Europe/Vienna', '2026-11-22T08:00'],
    ['2026-11-22T08:00Z', { time: '09:00' }, 'Europe/Vienna', '2026-11-23T08:00'],
    ['2026-11-22T08:00Z', { time: '09:00', weekdays: ['mon'] }, 'UTC', '2026-11-23T09:00'],
    ['2026-11-23T09:00Z', { time: '09:00', weekdays: ['mon'] }, 'UTC', '2026-11-30T09:00'],
    ['2026-11-22T08:00Z', { time: '09:00', timeZone: 'Asia/Tokyo' }, 'UTC', '2026-11-23T00:00'],
    ['2026-11-22T21:59Z', { time: '00:00' }, '+14:00', '2026-11-23T10:00'],
    ['2026-11-22T11:59Z', { time: '00:00' }, '-12:00', '2026-11-22T12:00'],
    ['2026-03-28T12:00Z', { time: '02:30' }, 'Europe/Vienna', '2026-03-29T01:30'],
    ['2026-10-24T12:00Z', { time: '02:30' }, 'Europe/Vienna', '2026-10-25T00:30'],
    ['2026-10-25T00:45Z', { time: '02:30' }, 'Europe/Vienna', '2026-10-26T01:30'],
    ['2026-11-22T08:00Z', { at: '2026-11-24T08:00:00+02:00' }, 'UTC', '2026-11-24T06:00'],
    ['2026-11-22T08:00Z', { at: '2026-11-20T08:00:00Z' }, 'UTC', '2026-11-22T08:00'],
  ] as const)('after %s: %j in %s', (from, until, zone, moment) => {
    expect(told(untilMoment(at(from), until, zone))).toBe(moment);
  });
});

/** On both sides of each change that the releases 2026b to 2026f of the IANA database brought. */
const NINE = [
  ['America/Vancouver', '2026-10-31T16:00', '2026-11-02T16:00', '2027-01-15T16:00'],
  ['America/Edmonton', '2026-10-31T15:00', '2026-11-02T15:00', '2027-01-15T15:00'],
  ['America/Inuvik', '2026-10-31T15:00', '2026-11-02T15:00', '2027-01-15T15:00'],
  ['America/Winnipeg', '2026-10-31T14:00', '2026-11-02T14:00', '2027-01-15T14:00'],
  ['Africa/Casablanca', '2026-09-18T08:00', '2026-09-21T09:00', '2027-02-20T09:00'],
  ['America/Havana', '2026-10-31T13:00', '2026-11-02T13:00', '2027-11-08T14:00'],
] as const;

describe.each(NINE)('nine o’clock in %s', (timeZone, ...moments) => {
  const HOUR = 3_600_000;
  test.each(moments)('is %s', (moment) => {
    const nine = at(`${moment}Z`);
    const own = { from: '21:00', to: '09:00', timeZone };
    const day = moment.slice(0, 10);
    expect([
      told(untilMoment(nine - HOUR, { time: '09:00', timeZone }, 'UTC')),
      told(untilMoment(nine - 23 * HOUR, { time: '09:00' }, timeZone)),
      told(quietUntil(nine - HOUR, own, 'UTC')),
      told(quietUntil(nine, own, 'UTC')),
      told(delayEnd(nine, { amount: 1, unit: 'days' }, timeZone)),
    ]).toEqual([moment, moment, moment, null, told(nine + 24 * HOUR)]);
    const once = { offsetDays: 0, time: '09:00', repeat: 'once' as const };
    expect(occurrencesOf(day, once, { after: nine - 12 * HOUR, upTo: nine + 12 * HOUR, timeZone })).toEqual([
      { day, at: nine },
    ]);
  });
});

describe('the end of quiet hours', () => {
  const night = { from: '22:00', to: '07:00', timeZone: null };
  test.each([
    ['2026-11-22T20:59Z', night, 'Europe/Vienna', null],
    ['2026-11-22T21:00Z', night, 'Europe/Vienna', '2026-11-23T06:00'],
    ['2026-11-23T05:59Z', night, 'Europe/Vienna', '2026-11-23T06:00'],
    ['2026-11-23T06:00Z', night, 'Europe/Vienna', null],
    ['2026-11-23T06:00Z', night, 'America/New_York', '2026-11-23T12:00'],
    ['2026-11-23T12:30Z', { from: '12:00', to: '13:00', timeZone: 'UTC' }, 'Asia/Tokyo', '2026-11-23T13:00'],
    // The nights in which the clock is moved.
    ['2026-03-28T22:00Z', night, 'Europe/Vienna', '2026-03-29T05:00'],
    ['2026-10-24T21:00Z', night, 'Europe/Vienna', '2026-10-25T06:00'],
    ['2026-12-31T09:00Z', night, '+14:00', '2026-12-31T17:00'],
    ['2026-12-31T11:00Z', night, '-12:00', '2026-12-31T19:00'],
  ] as const)('at %s: %j in %s', (from, quiet, zone, end) => {
    expect(told(quietUntil(at(from), quiet, zone))).toBe(end);
  });
});

describe('a date that comes every year', () => {
  const trigger = { offsetDays: 0, time: '09:00', repeat: 'yearly' as const };
  const between = (after: string, upTo: string, timeZone = 'UTC') => ({
    after: at(after),
    upTo: at(upTo),
    timeZone,
  });
  test.each([
    ['1990-11-22', trigger, between('2026-11-22T08:00Z', '2026-11-22T09:00Z'), ['2026-11-22T09:00']],
    ['1990-11-22', trigger, between('2026-11-22T09:00Z', '2026-11-22T10:00Z'), []],
    ['1990-11-22', trigger, between('2026-11-22T00:00Z', '2026-11-23T00:00Z', 'Asia/Tokyo'), []],
    [
      '1990-11-22',
      trigger,
      between('2026-11-21T23:00Z', '2026-11-22T00:00Z', 'Asia/Tokyo'),
      ['2026-11-22T00:00'],
    ],
    // 29 February is the 28th where the year has none.
    ['2024-02-29', trigger, between('2026-02-27T10:00Z', '2026-03-02T00:00Z'), ['2026-02-28T09:00']],
    ['2024-02-29', trigger, between('2028-02-27T10:00Z', '2028-03-02T00:00Z'), ['2028-02-29T09:00']],
    // Before the day, over the end of the year.
    [
      '1990-01-03',
      { ...trigger, offsetDays: -7 },
      between('2026-12-26T00:00Z', '2026-12-28T00:00Z'),
      ['2026-12-27T09:00'],
    ],
    [
      '1990-12-30',
      { ...trigger, offsetDays: 7 },
      between('2027-01-05T00:00Z', '2027-01-07T00:00Z'),
      ['2027-01-06T09:00'],
    ],
    // No one has a birthday before birth.
    ['2027-01-01', trigger, between('2025-12-31T00:00Z', '2026-01-02T00:00Z'), []],
    [
      '2026-11-22',
      { ...trigger, repeat: 'once' as const },
      between('2026-11-22T08:00Z', '2026-11-22T09:00Z'),
      ['2026-11-22T09:00'],
    ],
    [
      '2025-11-22',
      { ...trigger, repeat: 'once' as const },
      between('2026-11-22T08:00Z', '2026-11-22T09:00Z'),
      [],
    ],
    ['2026-02-31', trigger, between('2026-01-01T00:00Z', '2026-12-31T00:00Z'), []],
    ['soon', trigger, between('2026-01-01T00:00Z', '2026-12-31T00:00Z'), []],
  ])('%s, %j, %j', (value, trigger, within, moments) => {
    expect(occurrencesOf(value, trigger, within).map(({ at: moment }) => told(moment))).toEqual(
      moments as string[],
    );
  });

  test('contacts are looked through only at minutes at which the time comes in some zone', () => {
    const minute = (time: string) => at(`2026-11-22T${time}:00Z`);
    expect(comesWithin('09:05', minute('10:04'), minute('10:05'))).toBe(true);
    expect(comesWithin('09:05', minute('10:05'), minute('10:19'))).toBe(false);
    expect(comesWithin('09:05', minute('10:19'), minute('10:20'))).toBe(true);
  });
});
