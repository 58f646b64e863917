import { expect, test } from 'bun:test';
import type { Order } from '../../../src/engine/machine/draft.ts';
import { OrderRunner } from '../../../src/engine/runtime/performers.ts';
import { TimelyRoom } from '../../../src/engine/runtime/timely-room.ts';

const WINDOW_MS = 15_000;

/**
 * Orders of a machine that begins `perWindow` of those woken in time, and leaves the others to their leases.
 */
function woken({ backlog, perWindow, windows }: Record<'backlog' | 'perWindow' | 'windows', number>) {
  let now = 0;
  const room = new TimelyRoom({ least: 256, most: 8_192 }, () => now);
  let left = backlog;
  let wakes = 0;
  for (let window = 0; window < windows && left > 0; window++) {
    const taken = Math.min(left, room.size);
    wakes += taken;
    const begun = Math.min(taken, perWindow);
    for (let n = 0; n < taken; n++) room.ended(n >= begun);
    left -= begun;
    now += WINDOW_MS;
  }
  return { left, wakes };
}

test('a slow machine with a backlog wakes few actors for nothing', () => {
  // 41,000 deliveries at 10 a second: without a bound, 3 million wakes.
  const { left, wakes } = woken({ backlog: 41_000, perWindow: 150, windows: 400 });
  expect(left).toBe(0);
  expect(wakes).toBeLessThan(3 * 41_000);
});

test('a fast machine has all of its room, and has it again soon after a slow time', () => {
  expect(woken({ backlog: 41_000, perWindow: 8_192, windows: 6 })).toEqual({ left: 0, wakes: 41_000 });
  let now = 0;
  const room = new TimelyRoom({ least: 256, most: 8_192 }, () => now);
  room.ended(true);
  const sizes = Array.from({ length: 7 }, () => {
    now += WINDOW_MS;
    return room.size;
  });
  expect(sizes).toEqual([256, 512, 1_024, 2_048, 4_096, 8_192, 8_192]);
});

test('orders of which nothing came leave less room for due actors, and as much for orders that come at once', async () => {
  let now = 0;
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  const runner = new OrderRunner(
    { slots: 8_192, backlog: 0, perform: async () => [] },
    async () => {},
    () => {},
    () => Promise.reject(new Error('No event may be sent.')),
    end,
    () => now,
  );
  expect([runner.roomForDue, runner.room]).toEqual([8_192, 8_192]);
  runner.take({ kind: 'delivery' } as Order);
  expect(runner.roomForDue).toBe(8_191);
  await ended;
  now += WINDOW_MS;
  expect([runner.roomForDue, runner.room]).toEqual([256, 8_192]);
});
