import { expect, test } from 'bun:test';
import { fitCost } from '../bench/capacity/costs.ts';
import { Machine, Thread, Timeline } from '../bench/capacity/processors.ts';
import { requirements, USED } from '../bench/capacity/requirements.ts';
import { type Scenario, simulate } from '../bench/capacity/simulation.ts';
import type { ServiceTimes } from '../bench/capacity/times.ts';

const TIMES: ServiceTimes = {
  accepted: { service: { fixed: 800, each: 60 }, postgres: { fixed: 700, each: 30 } },
  life: { service: { fixed: 600, each: 100 }, postgres: { fixed: 700, each: 50 } },
  client: 12,
  kernel: 6,
  mainThread: 0.8,
  idle: { service: 0, postgres: 0 },
  flush: 1_000,
};

const TOGETHER: Scenario = {
  kind: 'life',
  connections: 128,
  instances: 1,
  emails: 5_000,
  machines: { together: 2 },
};
const APART = { coresOfInstance: 8, coresOfPostgres: 64, roundTrip: 0 };

test('the fitted cost is that which points were made of, and no part of it is below nothing', () => {
  const points = (fixed: number, each: number) =>
    [0.2, 0.05, 0.01].map((batches) => ({ batches, spent: each + fixed * batches }));
  const { fixed, each } = fitCost(points(700, 30));
  expect(fixed).toBeCloseTo(700);
  expect(each).toBeCloseTo(30);
  expect(fitCost(points(-50, 30)).fixed).toBe(0);
  expect(fitCost(points(500, -1)).each).toBe(0);
  expect(fitCost([{ batches: 0.1, spent: 40 }])).toEqual({ fixed: 0, each: 40 });
});

test('threads share a core in slices, and none works on two at once', () => {
  const time = new Timeline();
  const machine = new Machine(time, 1);
  const ends: [string, number][] = [];
  for (const name of ['a', 'b'])
    new Thread(machine).run(6_000, () => {
      ends.push([name, time.now]);
    });
  while (time.step());
  expect(ends).toEqual([
    ['a', 10_000],
    ['b', 12_000],
  ]);
  expect(machine.busy).toBe(12_000);

  const lone = new Thread(new Machine(time, 4));
  const begun = time.now;
  lone.run(500);
  lone.run(700);
  while (time.step());
  expect(time.now - begun).toBe(1_200);
});

test('a turn of a thread ends when what had come by its beginning is done', () => {
  const time = new Timeline();
  const log: string[] = [];
  const thread = new Thread(new Machine(time, 1), () => log.push('turn'));
  thread.run(10, () => {
    log.push('first');
    thread.run(10, () => log.push('third'));
  });
  thread.run(10, () => log.push('second'));
  while (time.step());
  expect(log).toEqual(['first', 'turn', 'second', 'third', 'turn']);
});

test('a seed gives the same result again, and another one nearly the same', () => {
  const first = simulate(TIMES, { ...TOGETHER, seed: 7 });
  expect(simulate(TIMES, { ...TOGETHER, seed: 7 })).toEqual(first);
  const rates = [1, 2, 3, 4].map((seed) => simulate(TIMES, { ...TOGETHER, emails: 20_000, seed }).perSecond);
  expect(Math.max(...rates) / Math.min(...rates)).toBeLessThan(1.1);
});

test('one connection is as fast as the parts of an email one after the other', () => {
  const times = { ...TIMES, kernel: 0 };
  // Of the flush the mean counts: over many emails its chance evens out.
  const one = { ...TOGETHER, kind: 'accepted', connections: 1, emails: 20_000 } as const;
  const { perSecond } = simulate(times, one);
  const { service, postgres } = times.accepted;
  const us =
    times.client +
    (service.fixed + service.each) * times.mainThread +
    postgres.fixed +
    postgres.each +
    times.flush;
  expect((perSecond * us) / 1e6).toBeCloseTo(1, 1);
});

test('the busiest part bounds the rate, and comes near to it', () => {
  const free = { ...TIMES, flush: 1 };
  // The main thread of one instance, everything else on other machines.
  const thread = simulate(free, { ...TOGETHER, connections: 500, machines: APART });
  expect(thread.busy.mainThread).toBeGreaterThan(0.85);
  expect(thread.busy.mainThread).toBeLessThanOrEqual(1);
  expect(thread.perSecond).toBeLessThan(1e6 / (TIMES.life.service.each * TIMES.mainThread));
  // One core for everybody.
  const core = simulate(free, { ...TOGETHER, machines: { together: 1 } });
  expect(core.busy.cores).toBeGreaterThan(0.85);
  expect(core.perSecond).toBeLessThan(1e6 / (core.cpu + TIMES.client));
  // A disk that flushes slowly.
  const slow = simulate({ ...TIMES, flush: 50_000 }, TOGETHER);
  expect(slow.busy.flush).toBeGreaterThan(0.85);
});

test('what others take of the cores is missing', () => {
  const alone = simulate(TIMES, TOGETHER).perSecond;
  const beside = simulate(TIMES, { ...TOGETHER, machines: { together: 2, others: 1 } }).perSecond;
  expect(beside).toBeLessThan(alone * 0.8);
  expect(beside).toBeGreaterThan(alone * 0.4);
});

test('a second instance helps where each has a separate machine', () => {
  const rate = (instances: number) =>
    simulate(TIMES, { ...TOGETHER, instances, connections: 128 * instances, machines: APART }).perSecond;
  expect(rate(2) / rate(1)).toBeGreaterThan(1.7);
});

test('what a rate needs grows with it, and names the bound that is reached first', () => {
  const demand = {
    service: 120,
    mainThread: 90,
    postgres: 60,
    commits: 0.04,
    wal: 2_700,
    tables: 2_600,
    http: 3_000,
    database: 9_000,
  };
  const [small, large] = [1_000, 100_000].map((rate) => requirements(rate, demand, 200e6));
  expect(small?.instances).toBe(1);
  expect(large?.instances).toBe(Math.ceil(9 / USED));
  expect(large?.postgresCores).toBeCloseTo(6 / USED);
  expect(large?.walPerSecond).toBe(270e6);
  expect(large?.next.what).toBe('WAL');
  expect(large?.next.used).toBeGreaterThan(1);
});
