import { describe, expect, test } from 'bun:test';
import {
  ADOPTED_AFTER_MS,
  DatabaseClock,
  LOOK_EVERY_MS,
  openClock,
  readClock,
} from '../../src/platform/time/database-clock.ts';

const NOON = Date.parse('2026-11-22T12:00:00Z');
const HOUR = 3_600_000;

/** A machine and a database, each with a clock that the test moves; real time passes for both. */
function scene({ machineAheadMs = 0, tripMs = 0, tellsSuspension = true } = {}) {
  let passed = 0;
  let slept = 0;
  let database = NOON;
  let machine = NOON + machineAheadMs;
  const logged: string[] = [];
  const log = (_: unknown, text?: string): void => void logged.push(text ?? String(_));
  const source = { now: () => machine, monotonic: () => passed };
  const reading = () => ({
    at: database,
    machine,
    monotonic: passed,
    within: tripMs / 2,
    suspended: tellsSuspension ? slept : null,
  });
  const clock = new DatabaseClock(reading(), source, { info: log, warn: log } as never);
  const pass = (ms: number, { databaseMs = ms, machineMs = ms } = {}): void => {
    passed += ms;
    database += databaseMs;
    machine += machineMs;
  };
  /** Both machines sleep, and with them the monotonic clock. */
  const sleep = (ms: number): void => {
    slept += ms;
    database += ms;
    machine += ms;
  };
  return {
    sleep,
    clock,
    logged,
    pass,
    /** Time passes, and the database's clock is looked at. */
    look(ms = LOOK_EVERY_MS, moved: { databaseMs?: number; machineMs?: number } = {}) {
      pass(ms, moved);
      clock.follow(reading());
    },
    /** The milliseconds by which the clock is behind the database's. */
    behind: () => database - clock.now(),
  };
}

describe('the time of a service', () => {
  test.each([HOUR, -HOUR, 25 * HOUR, 91 * 24 * HOUR, -91 * 24 * HOUR])(
    "is the database's, on a machine whose clock is %d ms ahead",
    (machineAheadMs) => {
      const { behind, look, clock } = scene({ machineAheadMs });
      expect(behind()).toBe(0);
      for (let n = 0; n < 5; n++) look();
      expect(behind()).toBe(0);
      expect(clock.agreement).toMatchObject({ skewMs: 0, agrees: true });
    },
  );

  test('takes no notice of a machine whose clock is set while it runs', () => {
    const { behind, look, clock } = scene();
    look(LOOK_EVERY_MS, { machineMs: -HOUR });
    expect(behind()).toBe(0);
    look(LOOK_EVERY_MS, { machineMs: 91 * 24 * HOUR });
    expect(behind()).toBe(0);
    expect(clock.agreement.agrees).toBe(true);
  });

  test.each([1_000, -1_000])(
    'makes up for a difference of %d ms little by little, and never goes back',
    (drift) => {
      const { behind, look, pass, clock } = scene();
      look(LOOK_EVERY_MS, { databaseMs: LOOK_EVERY_MS + drift });
      expect(clock.agreement).toMatchObject({ skewMs: drift, agrees: true });
      let last = clock.now();
      for (let ms = 0; ms < 9_000; ms += 100) {
        pass(100);
        expect(clock.now() - last).toBeGreaterThanOrEqual(90);
        expect(clock.now() - last).toBeLessThanOrEqual(111);
        last = clock.now();
      }
      pass(2_000);
      expect(Math.abs(behind())).toBeLessThanOrEqual(1);
    },
  );

  test('does not believe a database whose clock jumps ahead, until it is back', () => {
    const { clock, look, logged } = scene();
    const before = clock.now();
    look(LOOK_EVERY_MS, { databaseMs: HOUR });
    look();
    expect(clock.now() - before).toBe(2 * LOOK_EVERY_MS);
    expect(clock.agreement).toMatchObject({ skewMs: HOUR - LOOK_EVERY_MS, agrees: false });
    expect(logged).toHaveLength(1);
    expect(logged[0]).toContain('has jumped by 3590.0 s. Nothing is claimed and nothing is removed');
    look(LOOK_EVERY_MS, { databaseMs: 2 * LOOK_EVERY_MS - HOUR });
    expect(clock.agreement).toMatchObject({ skewMs: 0, agrees: true });
    expect(clock.now() - before).toBe(3 * LOOK_EVERY_MS);
    expect(logged).toHaveLength(2);
  });

  test('believes one that has stayed ahead for longer than any lease', () => {
    const { clock, look, behind } = scene();
    look(LOOK_EVERY_MS, { databaseMs: HOUR });
    for (let ms = LOOK_EVERY_MS; ms < ADOPTED_AFTER_MS; ms += LOOK_EVERY_MS) look();
    expect(clock.agreement.agrees).toBe(false);
    look();
    expect(clock.agreement).toMatchObject({ skewMs: 0, agrees: true });
    expect(behind()).toBe(0);
  });

  test("does not move after the database's clock was put back, until that has caught up", () => {
    const { clock, look } = scene();
    const before = clock.now();
    look(LOOK_EVERY_MS, { databaseMs: -60_000 });
    const stood = clock.now();
    expect(stood).toBe(before + LOOK_EVERY_MS);
    for (let n = 0; n < 6; n++) {
      look();
      expect([clock.now(), clock.agreement.agrees]).toEqual([stood, false]);
    }
    look();
    look();
    expect(clock.agreement.agrees).toBe(true);
    expect(clock.now()).toBeGreaterThanOrEqual(stood);
  });

  test.each([true, false])(
    'goes on where the whole machine was suspended (it tells so: %p)',
    (tellsSuspension) => {
      const { clock, look, sleep, behind, logged } = scene({ tellsSuspension });
      sleep(HOUR);
      look(1_000);
      expect([behind(), clock.agreement.agrees, logged.length]).toEqual([0, true, 0]);
    },
  );

  test('does not take a clock that was set, which machine and database share, for a suspension', () => {
    const { clock, look, logged } = scene();
    look(1_000, { databaseMs: HOUR, machineMs: HOUR });
    expect(clock.agreement).toEqual({ skewMs: HOUR - 1_000, machineSkewMs: 0, agrees: false });
    expect(logged[0]).toContain('has jumped by 3599.0 s');
    look(1_000, { databaseMs: 2_000 - HOUR, machineMs: 2_000 - HOUR });
    expect(clock.agreement.agrees).toBe(true);
  });

  test('says how far the machine itself is off, though nothing goes by that', () => {
    const { clock, look } = scene({ machineAheadMs: -HOUR });
    expect(clock.agreement.machineSkewMs).toBe(HOUR);
    look(LOOK_EVERY_MS, { machineMs: HOUR + LOOK_EVERY_MS });
    expect(clock.agreement).toEqual({ skewMs: 0, machineSkewMs: 0, agrees: true });
  });

  test('is not taken from a reading that took long', () => {
    const { clock, look } = scene({ tripMs: 2_400 });
    look(LOOK_EVERY_MS, { databaseMs: HOUR });
    expect(clock.agreement).toMatchObject({ skewMs: 0, agrees: true });
  });
});

test('of several readings the one with the shortest round trip counts, and half of it is added', async () => {
  let passed = 0;
  const trips = [300, 40, 8, 90, 60];
  const database = {
    query: async () => {
      const trip = trips.shift() as number;
      passed += trip;
      return [{ at: NOON + passed - trip * 0.9 }];
    },
  };
  const reading = await readClock(database as never, { now: () => 7, monotonic: () => passed });
  expect(reading.within).toBe(4);
  expect(reading.monotonic).toBe(348);
  expect(reading.at).toBeCloseTo(NOON + 348 - 7.2 + 4, 3);
  expect(trips).toEqual([]);
});

describe('the first reading of a start', () => {
  const start = async (trips: readonly number[]) => {
    let passed = 0;
    let asked = 0;
    const database = {
      kind: 'postgres',
      query: async () => {
        passed += trips[asked++] ?? 3_000;
        return [{ at: NOON + passed }];
      },
    };
    const log = { info: () => {}, warn: () => {} };
    const source = { now: () => 7, monotonic: () => passed };
    const clock = await openClock(database as never, log as never, source);
    clock.close();
    return { asked, behind: NOON + passed - clock.now() };
  };

  test('is repeated while every round trip is slow', async () => {
    expect(await start([3_000, 3_000, 3_000, 3_000, 3_000, 2])).toEqual({ asked: 6, behind: -1 });
  });

  test('is given up where the database stays slow: nothing can go by it', async () => {
    await expect(start([])).rejects.toThrow('takes too long to report its time');
  });
});
