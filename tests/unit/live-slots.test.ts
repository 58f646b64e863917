import { describe, expect, test } from 'bun:test';
import { Performing } from '../../src/engine/performers.ts';
import type { Order } from '../../src/engine/tell-batch.ts';
import { LiveSlots } from '../../src/modules/emails/live-slots.ts';

const monotonic = (): number => performance.now();

describe('the slots of live mail', () => {
  test('are had at once while there are any, then in the order of asking', async () => {
    const slots = new LiveSlots(2, monotonic);
    expect([slots.take(1_000), slots.take(1_000)]).toEqual([true, true]);
    const order: string[] = [];
    const waiting = ['first', 'second'].map(async (name) => {
      const granted = await slots.take(10_000);
      order.push(name);
      return granted;
    });
    slots.release();
    slots.release();
    expect(await Promise.all(waiting)).toEqual([true, true]);
    expect(order).toEqual(['first', 'second']);
  });

  test('are not waited for longer than makes sense', async () => {
    const slots = new LiveSlots(1, monotonic);
    expect(slots.take(0)).toBeFalse();
    expect(slots.take(-1)).toBeFalse();
    expect(slots.take(1_000)).toBeTrue();
    const begun = performance.now();
    expect(await Promise.all([slots.take(20), slots.take(40)])).toEqual([false, false]);
    expect(performance.now() - begun).toBeGreaterThanOrEqual(38);
    slots.release();
    expect(slots.take(10)).toBeTrue();
  });

  test('are waited for by so many and no more', async () => {
    const slots = new LiveSlots(1, monotonic, 2);
    expect(slots.take(1_000)).toBeTrue();
    const waiting = slots.take(10_000);
    expect(slots.take(10_000)).toBeFalse();
    slots.release();
    expect(await waiting).toBeTrue();
  });

  test('are had by nobody any more once the service stops', async () => {
    const slots = new LiveSlots(1, monotonic);
    expect(slots.take(1_000)).toBeTrue();
    const waiting = slots.take(60_000);
    slots.stop();
    expect(await waiting).toBeFalse();
    slots.release();
    expect(slots.take(1_000)).toBeFalse();
  });
});

test('an order that cannot be begun is told so, instead of being left to its lease', async () => {
  const reported: string[] = [];
  const begun = Promise.withResolvers<[]>();
  const performing = new Performing(
    {
      slots: 1,
      backlog: 1,
      perform: () => begun.promise,
      declined: () => [{ type: 'attempt.declined', at: 0 }],
    },
    async ({ actor }, events) => void reported.push(...events.map(({ type }) => `${actor.id} ${type}`)),
    () => {},
  );
  const order = (id: string): Order => ({
    kind: 'email',
    actor: { id } as never,
    effect: { type: 'transmit', params: {} },
  });
  for (const id of ['runs', 'waits', 'is too much']) performing.take(order(id));
  expect(reported).toEqual(['is too much attempt.declined']);
  const stopped = performing.stopped();
  expect(reported).toEqual(['is too much attempt.declined', 'waits attempt.declined']);
  begun.resolve([]);
  await stopped;
});
