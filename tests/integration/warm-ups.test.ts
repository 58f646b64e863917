import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { DAY_MS } from '../../src/platform/time/clock.ts';
import { type Lane, type Room, WarmUps } from '../../src/sending/emails/warm-up/warm-ups.ts';
import { embeddedStore, ManualClock, postgresStore, type Store } from '../support/engine.ts';

const MORNING = Date.parse('2026-11-20T09:00:00.000Z');
const MIDNIGHT = Date.parse('2026-11-21T00:00:00.000Z');

let domains = 0;
const laneOf = (perDay: readonly number[], isBulk = false, domainId = `dom_${domains++}`): Lane => ({
  domainId,
  isBulk,
  warmUp: { provider: 'smtp', startedAt: '2026-11-20T08:00:00.000Z', perDay },
});
const asBulk = (lane: Lane): Lane => ({ ...lane, isBulk: true });
const isIn = (room: Room): boolean => room.until === null;
/** The number with room among so many that ask one after the other. */
async function taken(warmUps: WarmUps, lane: Lane, asking: number): Promise<number> {
  let count = 0;
  for (let n = 0; n < asking; n++) if (isIn(await warmUps.take(lane, 1))) count++;
  return count;
}

for (const [name, open] of [
  ['postgres', postgresStore],
  ['embedded', embeddedStore],
] as const)
  describe(`the allowance of a day, ${name}`, () => {
    let store: Store;
    beforeAll(async () => {
      store = await open();
    });
    afterAll(() => store[Symbol.asyncDispose]());

    const instance = (clock = new ManualClock(MORNING)) => new WarmUps(store.database, clock);
    const claimed = async ({ domainId }: Lane) =>
      store.database.query<{ day: string; claimed: number; claimed_bulk: number }>(
        'select day::text, claimed, claimed_bulk from warm_up_days where domain_id = $1 order by day',
        [domainId],
      );

    test('is never exceeded by two instances that ask at once, and all of it is used', async () => {
      const lane = laneOf([100]);
      const both = [instance(), instance()];
      const rooms = await Promise.all(
        Array.from({ length: 300 }, (_, n) => (both[n % 2] as WarmUps).take(lane, 1)),
      );
      const used = rooms.filter(isIn).length;
      expect(used).toBeLessThanOrEqual(100);
      // The claim of one of them beyond that is less than a block.
      expect(used).toBeGreaterThanOrEqual(98);
      expect(await claimed(lane)).toMatchObject([{ day: '2026-11-20', claimed: 100 }]);
    });

    test('costs a statement for a fiftieth of it, and none while nothing is left', async () => {
      const lane = laneOf([10_000]);
      let statements = 0;
      const database = {
        query: (...asked: Parameters<typeof store.database.query>) => {
          statements++;
          return store.database.query(...asked);
        },
      };
      const clock = { ms: 0, now: () => MORNING, monotonic: () => clock.ms };
      const one = new WarmUps(database as typeof store.database, clock);
      expect(await taken(one, lane, 10_000)).toBe(10_000);
      expect(statements).toBe(50);
      expect(await taken(one, lane, 100)).toBe(0);
      expect(statements).toBe(51);
      clock.ms += 10_000;
      expect(await taken(one, lane, 100)).toBe(0);
      expect(statements).toBe(52);
    });

    test('goes on under a schedule that was read again, and not under one that differs in anything', async () => {
      const lane = laneOf([10, 11, 12]);
      const one = instance();
      const again = (more: Partial<Lane['warmUp']> = {}): Lane => {
        const { warmUp, ...rest } = structuredClone(lane);
        return { ...rest, warmUp: { ...warmUp, ...more } };
      };
      for (let n = 0; n < 10; n++) expect(isIn(await one.take(again(), 1))).toBe(true);
      // Each that waits has a separate place.
      const waits = [await one.take(again(), 1), await one.take(again(), 1)];
      expect(waits.map(({ until }) => until)).toEqual([MIDNIGHT, MIDNIGHT + 1]);
      // By another beginning this is the second day, and the numbers of a day may change alone.
      const earlier = again({ startedAt: '2026-11-19T08:00:00.000Z' });
      expect(await taken(one, earlier, 5)).toBe(1);
      expect(await taken(one, again({ perDay: [12, 11, 12] }), 5)).toBe(1);
    });

    test('is given back by an instance that stops, and lost for the day with one that dies', async () => {
      const lane = laneOf([1_000]);
      const [stops, dies, other] = [instance(), instance(), new ManualClock(MORNING)];
      await stops.take(lane, 1);
      await dies.take(lane, 1);
      expect(await claimed(lane)).toMatchObject([{ claimed: 40 }]);
      await stops.close();
      expect(await claimed(lane)).toMatchObject([{ claimed: 21 }]);
      expect(await taken(instance(other), lane, 1_000)).toBe(979);
      expect(await claimed(lane)).toMatchObject([{ claimed: 1_000 }]);
    });

    test('keeps a fifth back from campaigns, which have none of what other mail has used', async () => {
      const lane = laneOf([50]);
      const one = instance();
      expect(await taken(one, asBulk(lane), 50)).toBe(40);
      expect(await one.roomOf(asBulk(lane))).toBe(0);
      expect(await taken(one, lane, 50)).toBe(10);
      const other = laneOf([50]);
      expect(await taken(one, other, 45)).toBe(45);
      expect(await one.roomOf(asBulk(other))).toBe(5);
      expect(await taken(one, asBulk(other), 50)).toBe(5);
    });

    test('ends at midnight in UTC, and with the last day of the schedule', async () => {
      const lane = laneOf([2, 3]);
      const clock = new ManualClock(MORNING);
      const one = instance(clock);
      expect(await taken(one, lane, 5)).toBe(2);
      clock.time = MIDNIGHT - 1;
      expect(await taken(one, lane, 5)).toBe(0);
      clock.time = MIDNIGHT;
      expect(await taken(one, lane, 5)).toBe(3);
      clock.time = MIDNIGHT + DAY_MS;
      expect(await taken(one, lane, 100)).toBe(100);
      expect(await one.roomOf(asBulk(lane))).toBeNull();
    });

    test('an email with more recipients than fit waits; with more than a day has, it gets a day', async () => {
      const lane = laneOf([10, 10]);
      const clock = new ManualClock(MORNING);
      const one = instance(clock);
      expect(isIn(await one.take(lane, 7))).toBe(true);
      expect(isIn(await one.take(lane, 4))).toBe(false);
      expect(isIn(await one.take(lane, 3))).toBe(true);
      expect(isIn(await one.take(lane, 25))).toBe(false);
      clock.time = MIDNIGHT;
      expect(isIn(await one.take(lane, 25))).toBe(true);
      expect(isIn(await one.take(lane, 1))).toBe(false);
    });

    test('a waiting email gets the day that has room behind those before it, campaigns later', async () => {
      const lane = laneOf([1, 2, 3]);
      const one = instance();
      const waits = async (of: Lane): Promise<number | null> => (await one.take(of, 1)).until;
      await one.take(lane, 1);
      const told: (number | null)[] = [];
      for (let n = 0; n < 7; n++) told.push(await waits(lane));
      const day = (n: number, place: number): number => MIDNIGHT + n * DAY_MS + place;
      expect(told).toEqual([day(0, 0), day(0, 1), day(1, 0), day(1, 1), day(1, 2), day(2, 0), day(2, 1)]);
      expect(await waits(asBulk(lane))).toBe(day(0, 900_000));
      expect(one.usedUp).toBe(2);
    });

    test('room that was not used is another email’s, and another schedule counts what was claimed', async () => {
      const lane = laneOf([2]);
      const one = instance();
      const room = await one.take(lane, 2);
      expect(await taken(one, lane, 1)).toBe(0);
      if (room.until === null) room.giveBack();
      expect(await taken(one, lane, 3)).toBe(2);
      const wider: Lane = { ...lane, warmUp: { ...lane.warmUp, perDay: [5] } };
      expect(await taken(one, wider, 5)).toBe(3);
      const narrower: Lane = { ...lane, warmUp: { ...lane.warmUp, perDay: [1] } };
      expect(await taken(one, narrower, 1)).toBe(0);
    });
  });
