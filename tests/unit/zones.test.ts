import { describe, expect, test } from 'bun:test';
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import packed from 'moment-timezone/data/packed/latest.json';
import { SYSTEM_FOLDER, systemZones } from '../../src/platform/zones/system.ts';
import { recurringEnds } from '../../src/platform/zones/tz-string.ts';
import { Zones } from '../../src/platform/zones/zones.ts';
import { scratchFolder } from '../support/scratch.ts';

/** The rules of the executable: no folder is no system. */
const own = new Zones('/nowhere');
const at = (text: string): number => Date.parse(text);
const told = (moment: number): string => new Date(moment).toISOString().slice(0, 19);
const local = (text: string) => Temporal.PlainDateTime.from(text);

/**
 * The zones of which Bun’s table, of release 2026a, is outdated. Should the package bring a release that
 * changes another zone, the test below names it: look at the news of the release and add it.
 */
const CHANGED = new Set([
  'Africa/Casablanca',
  'Africa/El_Aaiun',
  'America/Vancouver',
  'Canada/Pacific',
  'America/Havana',
  'Cuba',
  'America/Edmonton',
  'America/Yellowknife',
  'Canada/Mountain',
  'America/Inuvik',
  'America/Winnipeg',
  'America/Rainy_River',
  'Canada/Central',
]);

test('the rules are of release 2026f or later, and have every zone that the runtime knows', () => {
  expect(own.release >= '2026f').toBe(true);
  expect([own.release, own.source, own.systemRelease]).toEqual([packed.version, 'executable', null]);
  expect(Intl.supportedValuesOf('timeZone').filter((name) => own.nameOf(name) !== name)).toEqual([]);
  expect(own.names.length).toBeGreaterThan(590);
});

describe('what is a time zone', () => {
  test.each([
    ['Europe/Vienna', 'Europe/Vienna'],
    ['europe/VIENNA', 'Europe/Vienna'],
    ['Asia/Calcutta', 'Asia/Calcutta'],
    ['Asia/Kolkata', 'Asia/Kolkata'],
    ['US/Pacific', 'US/Pacific'],
    ['US/Pacific-New', 'US/Pacific-New'],
    ['Etc/GMT+5', 'Etc/GMT+5'],
    ['utc', 'UTC'],
    ['America/Coyhaique', 'America/Coyhaique'],
    ['+02:00', '+02:00'],
    ['-0330', '-03:30'],
    ['+05', '+05:00'],
    ['-00:00', '+00:00'],
    ['+14:00', '+14:00'],
    ['-12:00', '-12:00'],
  ])('%s', (text, name) => {
    expect(own.nameOf(text)).toBe(name);
  });
  test.each([
    '',
    ' UTC',
    'Mars/Olympus',
    'Factory',
    'local',
    'Europe',
    'constructor',
    '__proto__',
    '../etc/passwd',
    '+2',
    '02:00',
    '+02:00:00',
    '+02:07',
    '+14:15',
    '-12:15',
    '+24:00',
    'UTC+2',
    'GMT+02:00',
    'CET/',
    '2026-01-01T00:00Z',
    '2026-01-01T00:00[Europe/Vienna]',
    'Z',
    '+',
    'Europe/Vienna\n',
  ])('not %j', (text) => {
    expect(own.nameOf(text)).toBeNull();
  });
});

describe('a time that the clocks leave out, or show twice', () => {
  test.each([
    ['Europe/Vienna', '2026-03-29T02:30', '2026-03-29T01:30:00'],
    ['Europe/Vienna', '2026-10-25T02:30', '2026-10-25T00:30:00'],
    ['Australia/Lord_Howe', '2026-10-04T02:15', '2026-10-03T15:45:00'],
    ['Pacific/Apia', '2011-12-30T12:00', '2011-12-30T22:00:00'],
    ['America/Vancouver', '2026-11-01T01:30', '2026-11-01T08:30:00'],
    ['America/Vancouver', '2027-03-14T02:30', '2027-03-14T09:30:00'],
    ['America/Winnipeg', '2026-11-01T01:30', '2026-11-01T06:30:00'],
  ])('%s %s', (zone, time, moment) => {
    expect(told(own.momentOf(local(time), zone))).toBe(moment);
  });
  test.each([
    ['America/Sao_Paulo', '2018-11-04', '2018-11-04T03:00:00'],
    ['America/Havana', '2025-11-02', '2025-11-02T04:00:00'],
    ['America/Havana', '2026-11-01', '2026-11-01T04:00:00'],
    ['America/Havana', '2026-11-02', '2026-11-02T04:00:00'],
    ['Pacific/Apia', '2011-12-30', '2011-12-30T10:00:00'],
    // The clocks went from 23:30 to 00:30, so that the day began at half past.
    ['America/Toronto', '1919-03-31', '1919-03-31T04:30:00'],
  ])('the day %s %s begins', (zone, day, moment) => {
    expect(told(own.startOfDay(Temporal.PlainDate.from(day), zone))).toBe(moment);
  });
});

test('where no rule has changed, every zone is what the runtime says, forth and back', () => {
  const differing = own.names.filter((zone) => !CHANGED.has(zone) && differs(zone));
  expect(differing).toEqual([]);
});

/** From 1993 on: the package has corrected older days since the release of the runtime. */
const [FROM, TO] = [Date.UTC(1993, 0), Date.UTC(2060, 0)];

function differs(zone: string): boolean {
  let seed = 7;
  const random = (): number => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return seed / 2_147_483_648;
  };
  const changes = own.changesOf(zone, FROM, TO).map((change) => change.at);
  const far = Array.from({ length: 6 }, () => FROM + Math.floor(random() * (Date.UTC(3_000, 0) - FROM)));
  const some = changes.filter((_, index) => index % 7 === 0 || index > changes.length - 3);
  const moments = [...some.flatMap((change) => [change - 1, change, change + 1_800_000]), ...far];
  return moments.some((moment) => {
    const other = Temporal.Instant.fromEpochMilliseconds(moment).toZonedDateTimeISO(zone);
    // Times around a change: some are left out, some come twice.
    const time = other.toPlainDateTime().add({ minutes: Math.floor(random() * 120) - 60 });
    const day = time.toPlainDate();
    return (
      own.offsetAt(moment, zone) * 1e6 !== other.offsetNanoseconds ||
      !own.localAt(moment, zone).equals(other.toPlainDateTime()) ||
      own.momentOf(time, zone) !== time.toZonedDateTime(zone).epochMilliseconds ||
      own.startOfDay(day, zone) !== day.toZonedDateTime(zone).epochMilliseconds
    );
  });
}

test('since 2000 every clock differs by whole quarters of an hour and every day begins on one, which figures rest upon', () => {
  const QUARTER = 15 * 60_000;
  const odd = own.names.filter((zone) =>
    own
      .changesOf(zone, Date.UTC(2000, 0), Date.UTC(2200, 0))
      .some(
        (change) =>
          change.offset % 15 !== 0 ||
          own.startOfDay(own.localAt(change.at, zone).toPlainDate(), zone) % QUARTER !== 0,
      ),
  );
  expect(odd).toEqual([]);
});

test('changes are reported with their common names', () => {
  expect(own.changesOf('Europe/Vienna', at('2026-07-01T00:00Z'), at('2027-04-01T00:00Z'))).toEqual([
    { at: at('2026-07-01T00:00Z'), offset: 120, abbreviation: 'CEST' },
    { at: at('2026-10-25T01:00Z'), offset: 60, abbreviation: 'CET' },
    { at: at('2027-03-28T01:00Z'), offset: 120, abbreviation: 'CEST' },
  ]);
  expect(own.changesOf('Asia/Dubai', 0, at('2027-01-01T00:00Z'))).toEqual([
    { at: 0, offset: 240, abbreviation: '+04' },
  ]);
  expect(own.changesOf('+02:00', 5, 9)).toEqual([{ at: 5, offset: 120, abbreviation: '+02:00' }]);
});

describe('the table of the system', () => {
  const FIXTURE = join(import.meta.dir, '../fixtures/zoneinfo');
  const aCopy = (name: string): string => {
    const folder = join(scratchFolder(), name);
    cpSync(FIXTURE, folder, { recursive: true });
    return folder;
  };

  test('counts where it is newer, with the years that only its rule tells of', () => {
    const newer = new Zones(FIXTURE);
    expect([newer.release, newer.source, newer.systemRelease]).toEqual(['2099a', 'system', '2099a']);
    const hours = (moment: string, zone: string) => newer.offsetAt(at(moment), zone) / 3_600_000;
    expect(hours('2027-01-01T00:00Z', 'America/Vancouver')).toBe(-5);
    expect(hours('2027-01-01T00:00Z', 'Canada/Pacific')).toBe(-5);
    expect(newer.nameOf('europe/utopia')).toBe('Europe/Utopia');
    expect(hours('2027-01-01T00:00Z', 'Europe/Utopia')).toBe(-4.5);
    for (const year of [2027, 2038, 2100, 2400, 2498, 2499, 2500, 2804, 9000]) {
      const text = String(year);
      expect([hours(`${text}-01-15T00:00Z`, 'Europe/Vienna'), year]).toEqual([2, year]);
      expect([hours(`${text}-07-15T00:00Z`, 'Europe/Vienna'), year]).toEqual([3, year]);
    }
    // A zone without a file is as the executable has it.
    expect(hours('2027-01-01T00:00Z', 'America/Edmonton')).toBe(-6);
  });

  test('does not count where it is older, damaged, or does not say which release it is', () => {
    const older = aCopy('older');
    writeFileSync(join(older, 'tzdata.zi'), '# version 2025b\nZ Europe/Vienna 2 - X\n');
    expect(new Zones(older)).toMatchObject({ release: packed.version, source: 'executable' });
    expect(new Zones(older).systemRelease).toBe('2025b');
    const silent = aCopy('silent');
    writeFileSync(join(silent, 'tzdata.zi'), '# version unknown\nZ Europe/Vienna 2 - X\n');
    expect(new Zones(silent)).toMatchObject({ source: 'executable', systemRelease: null });
    const damaged = aCopy('damaged');
    for (const octets of ['', 'TZif', `TZif2${'\0'.repeat(39)}`, 'no zone'])
      for (const name of ['America/Vancouver', 'Europe/Vienna']) {
        writeFileSync(join(damaged, name), octets);
        const zones = new Zones(damaged);
        expect(zones.source).toBe('system');
        expect(zones.offsetAt(0, name)).toBe(own.offsetAt(0, name));
      }
  });

  test('names no file outside of its folder', () => {
    const folder = aCopy('outside');
    mkdirSync(join(folder, '../elsewhere'), { recursive: true });
    writeFileSync(join(folder, 'tzdata.zi'), '# version 2099a\nZ ../elsewhere/X 2 - X\nL /etc/passwd ../X\n');
    expect(systemZones(folder)?.names).toEqual([]);
  });

  test('says what the executable says, in every year, where both are of one release', () => {
    const system = systemZones(SYSTEM_FOLDER);
    if (system?.release !== own.release)
      return console.log(`The system has ${system?.release ?? 'no zones'}: not compared.`);
    for (const name of ['Europe/Vienna', 'America/Vancouver', 'Africa/Casablanca', 'Asia/Gaza'])
      expect(system.zone(name)?.offsets.at(-1)).toBe(own.offsetAt(Date.UTC(2498, 11, 31), name));
  });
});

describe('the rule at the end of a file', () => {
  test.each([
    ['Europe/Vienna', 'CET-1CEST,M3.5.0,M10.5.0/3'],
    ['Australia/Lord_Howe', '<+1030>-10:30<+11>-11,M10.1.0,M4.1.0'],
    ['Pacific/Chatham', '<+1245>-12:45<+1345>,M9.5.0/2:45,M4.1.0/3:45'],
    ['America/Santiago', '<-04>4<-03>,M9.1.6/24,M4.1.6/24'],
    ['America/Nuuk', '<-02>2<-01>,M3.5.0/-1,M10.5.0/0'],
    ['Europe/Dublin', 'IST-1GMT0,M10.5.0,M3.5.0/1'],
    ['Antarctica/Troll', '<+00>0<+02>-2,M3.5.0/1,M10.5.0/3'],
    ['Asia/Jerusalem', 'IST-2IDT,M3.4.4/26,M10.5.0'],
    ['America/Havana', 'CST5CDT,M3.2.0/0,M11.1.0/1'],
  ])('%s goes by %s', (zone, rule) => {
    const [from, to] = [Date.UTC(2038, 0), Date.UTC(2120, 0)];
    const expected = own
      .changesOf(zone, from, to)
      .slice(1)
      .map(({ at: moment, offset }) => [moment, offset * 60_000]);
    expect(recurringEnds(rule, from, to).map(({ at: moment, offset }) => [moment, offset])).toEqual(
      expected.map(([moment = 0, offset = 0]) => [moment, offset]),
    );
  });
  test.each([
    // Day 60 is 1 March in the form that leaves 29 February out, and 29 February or 1 March in the other.
    [
      'AAA0BBB,J60/0,J61/0',
      ['2027-03-01T00:00:00', '2027-03-01T23:00:00', '2028-03-01T00:00:00', '2028-03-01T23:00:00'],
    ],
    [
      'AAA0BBB,59/0,60/0',
      ['2027-03-01T00:00:00', '2027-03-01T23:00:00', '2028-02-29T00:00:00', '2028-02-29T23:00:00'],
    ],
  ])('%s', (rule, moments) => {
    expect(recurringEnds(rule, Date.UTC(2027, 0), Date.UTC(2029, 0)).map((one) => told(one.at))).toEqual(
      moments,
    );
  });
  test.each(['', 'UTC0', '<-0430>4:30', 'nonsense', 'CET-1CEST', 'CET-1CEST,M3.5.0'])(
    '%j changes nothing',
    (rule) => {
      expect(recurringEnds(rule, 0, Date.UTC(2100, 0))).toEqual([]);
    },
  );
});
