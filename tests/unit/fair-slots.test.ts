import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { FairQueue, FairSlots } from '../../src/platform/async/fair-slots.ts';

const wide = { total: 1_000, perKey: 1_000, backlog: 100_000 };

/** Starts all that may start now. */
function startAll<T>(slots: FairSlots<T>): { key: string; work: T }[] {
  return [
    ...(function* () {
      for (let next = slots.start(); next; next = slots.start()) yield next;
    })(),
  ];
}

describe('slots', () => {
  test('nothing offered, nothing started', () => {
    expect(new FairSlots(wide).start()).toBeUndefined();
  });

  test("one key's work starts in the order it was offered", () => {
    const slots = new FairSlots<number>(wide);
    for (let i = 0; i < 50; i += 1) slots.offer('a', i);
    expect(startAll(slots).map(({ work }) => work)).toEqual([...Array(50).keys()]);
  });

  test('one key never runs more than its cap, and goes on as its work finishes', () => {
    const slots = new FairSlots<number>({ ...wide, perKey: 3 });
    for (let i = 0; i < 9; i += 1) slots.offer('a', i);
    expect(startAll(slots)).toHaveLength(3);
    slots.finish('a');
    expect(startAll(slots)).toEqual([{ key: 'a', work: 3 }]);
  });

  test('keys take turns, however much one of them has waiting', () => {
    const slots = new FairSlots<string>({ ...wide, total: 64 });
    for (let i = 0; i < 100; i += 1) slots.offer('hog', `hog ${i}`);
    slots.offer('small', 'small 0');
    slots.offer('small', 'small 1');
    expect([1, 2, 3, 4].map(() => slots.start()?.key)).toEqual(['hog', 'small', 'hog', 'small']);
  });

  test('the key with the least under way goes first', () => {
    const slots = new FairSlots<number>(wide);
    for (let i = 0; i < 4; i += 1) slots.offer('slow', i);
    startAll(slots);
    slots.offer('slow', 4);
    slots.offer('new', 0);
    expect(slots.start()?.key).toBe('new');
  });

  describe('receivers that never answer leave room for one that does', () => {
    const busyWith = (hogs: number) => {
      const holders: string[] = [];
      const slots = new FairSlots<number>({ total: 256, perKey: 32, backlog: 1_000_000 });
      for (let hog = 0; hog < hogs; hog += 1)
        for (let i = 0; i < 200; i += 1) {
          slots.offer(`hog ${hog}`, i);
          holders.push(...startAll(slots).map(({ key }) => key));
        }
      return { slots, holders };
    };

    test.each([1, 10, 30])('at once while they are %d', (hogs) => {
      const { slots } = busyWith(hogs);
      slots.offer('healthy', 0);
      expect(startAll(slots)).toEqual([{ key: 'healthy', work: 0 }]);
    });

    test.each([100, 200])('after each has timed out once when they are %d', (hogs) => {
      const { slots, holders } = busyWith(hogs);
      for (const key of holders) {
        slots.finish(key);
        startAll(slots);
      }
      slots.offer('healthy', 0);
      expect(startAll(slots)).toEqual([{ key: 'healthy', work: 0 }]);
    });
  });

  test('where no slot is kept free, one key runs all, and the next key has the first slot that is free again', () => {
    const slots = new FairSlots<number>({ total: 4, perKey: 4, backlog: 64, isWorkConserving: true });
    for (let i = 0; i < 30; i += 1) slots.offer('a', i);
    expect(startAll(slots).map(({ work }) => work)).toEqual([0, 1, 2, 3]);
    for (const key of ['b', 'c']) for (const work of [100, 101, 102]) slots.offer(key, work);
    const next = () => {
      slots.finish('a');
      return startAll(slots).map(({ key }) => key);
    };
    expect([next(), next()]).toEqual([['b'], ['c']]);
  });

  test('what does not fit yet is overtaken by nothing, and a key that comes later has its turn before it', () => {
    const slots = new FairSlots<string>(wide);
    const start = (room: number) => slots.start((work) => work.length <= room)?.key;
    for (const work of ['a', 'aaaa', 'a']) slots.offer('a', work);
    expect([start(2), start(2)]).toEqual(['a', undefined]);
    slots.offer('b', 'bbb');
    expect([start(2), start(3), start(3), start(4), start(4)]).toEqual([undefined, 'b', undefined, 'a', 'a']);
  });

  test('the backlog is bounded, and leaves as much to others as one key has', () => {
    const slots = new FairSlots<number>({ total: 0, perKey: 1, backlog: 100 });
    const accepted = (key: string): number =>
      [...Array(200).keys()].filter((i) => slots.offer(key, i)).length;
    expect(accepted('a')).toBe(50);
    expect(accepted('b')).toBe(25);
    expect(slots.offer('c', 0)).toBe(true);
    for (let i = 0; i < 200; i += 1) slots.offer(`k${i}`, i);
    expect(slots.waiting).toBe(100);
    expect(slots.offer('last', 0)).toBe(false);
  });

  test('what waits for a forgotten key is dropped and answered, what runs goes on', () => {
    const slots = new FairSlots<number>({ ...wide, perKey: 2 });
    for (let i = 0; i < 5; i += 1) slots.offer('a', i);
    startAll(slots);
    expect(slots.forget('a')).toEqual([2, 3, 4]);
    expect({ running: slots.running, waiting: slots.waiting }).toEqual({ running: 2, waiting: 0 });
    expect(slots.forget('unknown')).toEqual([]);
    slots.finish('a');
    expect(slots.start()).toBeUndefined();
    slots.offer('a', 9);
    expect(slots.start()).toEqual({ key: 'a', work: 9 });
  });

  test('what is taken back leaves its place, and its key keeps the turn', () => {
    const slots = new FairSlots<string>({ total: 64, perKey: 64, backlog: 4 });
    for (const work of ['a 0', 'a 1']) slots.offer('a', work);
    slots.offer('b', 'b 0');
    slots.withdraw('a', 'a 0');
    slots.withdraw('a', 'unknown');
    expect(slots.waiting).toBe(2);
    expect(startAll(slots).map(({ work }) => work)).toEqual(['a 1', 'b 0']);
    slots.offer('c', 'c 0');
    slots.withdraw('c', 'c 0');
    expect(slots.start()).toBeUndefined();
  });

  test('a free slot cannot be given back', () => {
    expect(() => new FairSlots(wide).finish('a')).toThrow();
  });

  test('whatever happens: nothing is lost or started twice, order and bounds hold, and no slot idles in vain', () => {
    const step = fc.tuple(
      fc.constantFrom('offer', 'finish', 'forget', 'withdraw'),
      fc.constantFrom('a', 'b', 'c', 'd'),
    );
    fc.assert(
      fc.property(
        fc.record({
          total: fc.integer({ min: 1, max: 20 }),
          perKey: fc.integer({ min: 1, max: 5 }),
          backlog: fc.integer({ min: 1, max: 12 }),
          isWorkConserving: fc.boolean(),
        }),
        fc.array(step, { maxLength: 200 }),
        (limits, steps) => {
          const slots = new FairSlots<number>(limits);
          const running: Record<string, number> = { a: 0, b: 0, c: 0, d: 0 };
          const waiting: Record<string, number[]> = { a: [], b: [], c: [], d: [] };
          const of = (key: string): number => running[key] ?? 0;
          let offered = 0;
          for (const [action, key] of steps) {
            if (action === 'offer' && slots.offer(key, offered)) waiting[key]?.push(offered);
            if (action === 'finish' && of(key) > 0) {
              slots.finish(key);
              running[key] = of(key) - 1;
            }
            if (action === 'forget') expect(slots.forget(key)).toEqual(waiting[key]?.splice(0) ?? []);
            if (action === 'withdraw') {
              const [second] = waiting[key]?.splice(1, 1) ?? [];
              if (second !== undefined) slots.withdraw(key, second);
            }
            offered += 1;
            for (const started of startAll(slots)) {
              expect(started.work).toBe(waiting[started.key]?.shift() ?? -1);
              running[started.key] = of(started.key) + 1;
              expect(of(started.key)).toBeLessThanOrEqual(limits.perKey);
            }
            const runningNow = Object.values(running).reduce((sum, count) => sum + count, 0);
            const waitingNow = Object.values(waiting).reduce((sum, lane) => sum + lane.length, 0);
            expect(slots.running).toBe(runningNow);
            expect(slots.waiting).toBe(waitingNow);
            expect(runningNow).toBeLessThanOrEqual(limits.total);
            expect(waitingNow).toBeLessThanOrEqual(limits.backlog);
            if (runningNow < limits.total)
              for (const other of Object.keys(waiting))
                if (waiting[other]?.length)
                  expect(of(other)).toBeGreaterThanOrEqual(limits.isWorkConserving ? limits.perKey : 1);
          }
        },
      ),
    );
  });
});

describe('a queue with a memory', () => {
  test('runs what fits, lets what is too large run alone, and goes on where one that waits gives up', async () => {
    const queue = new FairQueue(wide, 10);
    const begun: string[] = [];
    const ends = new Map<string, () => void>();
    const give = (key: string, octets: number, signal?: AbortSignal) =>
      queue.take(
        key,
        async () => {
          begun.push(`${key} ${octets}`);
          await new Promise<void>((end) => ends.set(key, end));
          return octets;
        },
        { octets, signal },
      );
    const settled = () => new Promise<void>((next) => setImmediate(next));
    const leaving = new AbortController();
    const [a, b, c] = [give('a', 6), give('b', 30, leaving.signal), give('c', 4)];
    await settled();
    expect(begun).toEqual(['a 6']);
    leaving.abort();
    expect(await b).toBeNull();
    await settled();
    expect(begun).toEqual(['a 6', 'c 4']);
    const [d, e] = [give('d', 30), give('e', 1)];
    for (const key of ['a', 'c']) ends.get(key)?.();
    expect([await a, await c]).toEqual([6, 4]);
    await settled();
    expect(begun.slice(2)).toEqual(['d 30']);
    ends.get('d')?.();
    expect(await d).toBe(30);
    await settled();
    ends.get('e')?.();
    expect(await e).toBe(1);
  });
});
