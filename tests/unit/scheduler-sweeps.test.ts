import { describe, expect, test } from 'bun:test';
import { untilNextTurn } from '../../src/platform/async/batcher.ts';
import { scene } from '../support/sweep-scene.ts';

describe("where the clock is the database's, a sweep", () => {
  test('begins with the last ten seconds and all before them, and soon where every write has settled', async () => {
    const { sweep, world, now } = scene();
    expect(await sweep()).toEqual([10_000, 'everything']);
    // A look takes a millisecond, and there were four.
    expect(await sweep()).toEqual([2_004]);
    for (let tick = 0; tick < 5; tick++) {
      world.due = [now()];
      const [from] = await sweep();
      expect(from).toBeLessThanOrEqual(3_010);
    }
    // While nothing is due, what has settled is asked for twice a minute.
    for (let tick = 0; tick < 100; tick++) {
      const [from] = await sweep();
      expect(from).toBeLessThanOrEqual(33_100);
    }
  });

  test('reads what lies further back once more, when those have ended who had begun to write before', async () => {
    const { sweep, world, woken, now } = scene();
    world.held = 50;
    expect(await sweep()).toEqual([10_000, 'everything']);
    world.due = [now() - 3_600_000];
    world.held = null;
    expect(await sweep()).toEqual([11_004, 'everything']);
    expect(woken).toHaveLength(1);
    expect(await sweep()).toHaveLength(1);
  });

  test.each([1, 100, 3_000])('wakes all that was due, when a look takes %d ms', async (lookMs) => {
    const { sweep, world, woken, now } = scene();
    world.lookMs = lookMs;
    const due = [5_000_000_000, 7_200_000, 120_000, 6_000, 400].map((ago) => now() - ago);
    world.due = [...due];
    for (let tick = 0; tick < 6; tick++) await sweep();
    expect(woken.toSorted()).toEqual(due.toSorted());
  });

  test('does not get ahead of a transaction that may still write', async () => {
    const { sweep, world, woken, now, hold } = scene();
    for (let tick = 0; tick < 3; tick++) await sweep();
    const held = now();
    hold();
    for (let tick = 0; tick < 60; tick++) await sweep();
    // Its writes are not before the moment at which it had its number.
    world.due = [held + 1];
    world.held = null;
    await sweep();
    expect(woken).toEqual([held + 1]);
    await sweep();
    expect(await sweep()).toEqual([2_001]);
  });

  test('does not get ahead of what another transaction has locked', async () => {
    const { sweep, world, woken, now } = scene({ areShared: true });
    for (let tick = 0; tick < 3; tick++) await sweep();
    const due = now() + 500;
    world.due = [due];
    world.locked = [due];
    for (let tick = 0; tick < 20; tick++) await sweep();
    expect(woken).toEqual([]);
    world.locked = [];
    await sweep();
    expect(woken).toEqual([due]);
  });

  test('does not get ahead of what there was no room for, and reads none of it twice', async () => {
    const { sweep, world, woken, now, room } = scene();
    for (let tick = 0; tick < 3; tick++) await sweep();
    const due = Array.from({ length: 20 }, (_, index) => now() + index);
    world.due = [...due];
    room(0);
    expect(await sweep()).toEqual([]);
    room(8);
    const looks = await sweep();
    expect(looks).toHaveLength(3);
    expect(looks[1]).toBeLessThan(looks[0] as number);
    expect(woken).toEqual(due);
  });

  test('looks for the next while those before are being woken, and wakes no two batches at once', async () => {
    const { sweep, world, woken, now, room, waking, looked } = scene();
    for (let tick = 0; tick < 3; tick++) await sweep();
    const due = Array.from({ length: 2_000 }, (_, index) => now() + Math.floor(index / 4));
    world.due = [...due];
    room(5_000);
    const whole = Promise.withResolvers<boolean>();
    const batches: number[] = [];
    waking((begun) => {
      batches.push(begun);
      return batches.length === 1 ? whole.promise : Promise.resolve(true);
    });
    const sweeping = sweep();
    for (let turn = 0; turn < 10; turn++) await untilNextTurn();
    expect(looked()).toBe(2);
    expect(batches).toEqual([500]);
    whole.resolve(true);
    await sweeping;
    expect(batches).toEqual([500, 1_000, 1_500, 2_000]);
    expect(woken).toEqual(due);
  });

  test('looks for no more beside those that are being woken than there is room for, and wakes none of them once it stops', async () => {
    const { sweep, world, woken, now, room, waking, wakeUps, looked } = scene();
    for (let tick = 0; tick < 3; tick++) await sweep();
    world.due = Array.from({ length: 1_000 }, (_, index) => now() + Math.floor(index / 4));
    room(700);
    const whole = Promise.withResolvers<boolean>();
    waking(() => whole.promise);
    const sweeping = sweep();
    for (let turn = 0; turn < 10; turn++) await untilNextTurn();
    expect([woken.length, looked()]).toEqual([500, 2]);
    const stopping = wakeUps.stop();
    whole.resolve(true);
    await Promise.all([sweeping, stopping]);
    expect([woken.length, world.due.length]).toEqual([500, 500]);
  });

  test('wakes each once where all are due at one moment, and batches end amidst it', async () => {
    const { sweep, world, woken, now, room, claimed } = scene();
    for (let tick = 0; tick < 3; tick++) await sweep();
    const due = Array.from({ length: 1_700 }, () => now() + 7);
    world.due = [...due];
    room(5_000);
    await sweep();
    expect([woken, world.due, claimed()]).toEqual([due, [], 0]);
  });

  test.each([
    ['could not be', async () => false],
    [
      'could not even be told',
      async () => {
        throw new Error('The database is away.');
      },
    ],
  ])('claims for a minute after some %s woken', async (_, fails) => {
    const { sweep, world, woken, now, waking, claimed } = scene();
    for (let tick = 0; tick < 3; tick++) await sweep();
    const due = now();
    world.due = [due];
    waking(fails);
    await sweep();
    expect([woken.length, world.due, claimed()]).toEqual([1, [due], 0]);
    waking(async () => true);
    await sweep();
    expect([woken.length, world.due]).toEqual([2, []]);
    const another = async (): Promise<void> => {
      world.due = [now()];
      await sweep();
      expect(world.due).toEqual([]);
    };
    for (let tick = 0; tick < 57; tick++) await another();
    const before = claimed();
    expect(before).toBeGreaterThan(50);
    for (let tick = 0; tick < 5; tick++) await another();
    expect(claimed()).toBeLessThan(before + 4);
  });

  test('claims while another instance is there, and not when that has gone', async () => {
    const { sweep, world, woken, now, claimed, wakeUps } = scene({ areShared: true });
    for (let tick = 0; tick < 3; tick++) {
      world.due = [now()];
      await sweep();
    }
    const before = claimed();
    expect(before).toBeGreaterThan(2);
    woken.length = 0;
    wakeUps.shareTimers(false);
    const due = now();
    world.due = [due];
    await sweep();
    expect([woken, claimed()]).toEqual([[due], before]);
  });

  test('asks one statement where nothing is due, and looks again at once after the clock was put back', async () => {
    const { sweep, world, woken, set, now, looked } = scene();
    for (let tick = 0; tick < 4; tick++) await sweep();
    for (let tick = 0; tick < 20; tick++) {
      await sweep();
      expect(looked()).toBe(1);
    }
    set(-3_600_000);
    world.due = [now()];
    await sweep();
    expect(woken).toHaveLength(1);
  });

  test('finds what it claimed and could not wake, and what was claimed meanwhile, when their claims have ended', async () => {
    const { sweep, world, woken, now, room, waking } = scene({ areShared: true });
    for (let tick = 0; tick < 3; tick++) await sweep();
    const due = Array.from({ length: 1_000 }, (_, index) => now() + index / 2);
    world.due = [...due];
    room(5_000);
    waking(() => Promise.reject(new Error('The database is away.')));
    await sweep();
    expect(woken).toHaveLength(500);
    expect(world.due).toEqual([]);
    waking(async () => true);
    // A claimed actor is due again after its claim.
    world.due = due.map((at) => at + 5_000);
    for (let tick = 0; tick < 6; tick++) await sweep();
    expect(woken).toHaveLength(1_500);
  });

  test('wakes from the backlog what there was no room for at first', async () => {
    const { sweep, world, woken, now, room } = scene();
    const due = Array.from({ length: 20 }, (_, index) => now() - 3_600_000 + index);
    world.due = [...due];
    room(0);
    await sweep();
    room(500);
    await sweep();
    expect(woken).toEqual(due);
  });

  test("begins again when the database's clock was put back", async () => {
    const { sweep, set } = scene();
    for (let tick = 0; tick < 4; tick++) await sweep();
    set(-3_600_000);
    // The first look sees the clock, and took a millisecond.
    expect((await sweep()).slice(1)).toEqual([9_999, 'everything']);
  });

  test.each([100, 400, 900])(
    "wakes what is written after the database's clock was put back by %d ms",
    async (ms) => {
      const { sweep, set, world, woken, now } = scene();
      for (let tick = 0; tick < 4; tick++) await sweep();
      set(-ms);
      // Due at the moment at which it is written, which by the clock lies before the last question.
      const due = now();
      world.due = [due];
      await sweep();
      expect(woken).toEqual([due]);
    },
  );

  test('reads a backlog in stretches where one look at all of it takes longer than a statement may', async () => {
    const { sweep, world, woken, now } = scene();
    const hour = 3_600_000;
    // So many entries lie in the last three hours that a look over more than ten minutes of them fails.
    const dense = now() - 3 * hour;
    world.fails = (from, to) => to - Math.max(from, dense) > hour / 6;
    const due = [9 * hour, 2.5 * hour, hour, 60_000].map((ago) => now() - ago);
    world.due = [...due];
    expect(await sweep()).toEqual([10_000, 'everything']);
    for (let tick = 0; tick < 30; tick++) await sweep(500);
    expect(woken.toSorted()).toEqual(due.toSorted());
    expect(await sweep()).toHaveLength(1);
  });

  test('begins again when so much has gathered behind a transaction that a sweep cannot be read', async () => {
    const { sweep, world, woken, now, hold } = scene();
    for (let tick = 0; tick < 3; tick++) await sweep();
    hold();
    for (let tick = 0; tick < 60; tick++) await sweep();
    world.fails = (from, to) => from > 0 && to - from > 30_000;
    await sweep();
    const due = now() + 100;
    world.due = [due];
    await sweep();
    expect(woken).toEqual([due]);
  });

  test('claims nothing while the time is unknown, and looks at everything afterwards', async () => {
    const { sweep, world, woken, now, agreement, wakeUps } = scene();
    for (let tick = 0; tick < 3; tick++) await sweep();
    Object.assign(agreement, { agrees: false, skewMs: 3_600_000 });
    world.due = [now()];
    expect(await sweep()).toEqual([]);
    expect(wakeUps.health).toMatchObject({ status: 'paused', clockSkewMs: 3_600_000 });
    Object.assign(agreement, { agrees: true, skewMs: 0 });
    expect(await sweep()).toEqual([10_000, 'everything']);
    expect(woken).toHaveLength(1);
  });
});

describe('where it is another clock, of which the database cannot tell the past, a sweep', () => {
  test.each([1, 100, 3_000])('looks at everything, though a look takes %d ms', async (lookMs) => {
    const { sweep, world } = scene({ isShared: false });
    world.lookMs = lookMs;
    for (let tick = 0; tick < 4; tick++) expect(await sweep()).toEqual(['everything']);
  });
});
