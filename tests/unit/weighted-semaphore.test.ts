import { describe, expect, test } from 'bun:test';
import { WeightedSemaphore } from '../../src/async/weighted-semaphore.ts';
import type { Order } from '../../src/engine/draft.ts';
import { Performing } from '../../src/engine/performers.ts';

const monotonic = (): number => performance.now();

describe('the slots of live mail', () => {
  test('are had at once while there are any, then in the order of asking', async () => {
    const slots = new WeightedSemaphore(2, monotonic);
    expect([slots.take(), slots.take()]).toEqual([true, true]);
    const order: string[] = [];
    const waiting = ['first', 'second'].map(async (name) => {
      const granted = await slots.take();
      order.push(name);
      return granted;
    });
    slots.release();
    slots.release();
    expect(await Promise.all(waiting)).toEqual([true, true]);
    expect(order).toEqual(['first', 'second']);
  });

  test('are waited for by so many and no more', async () => {
    const slots = new WeightedSemaphore(1, monotonic, 1);
    expect(slots.take()).toBeTrue();
    const waiting = slots.take();
    expect([slots.capacity, slots.take()]).toEqual([0, false]);
    slots.release();
    expect(await waiting).toBeTrue();
    expect(slots.capacity).toBe(1);
  });

  test('are had by nobody any more once the service stops', async () => {
    const slots = new WeightedSemaphore(1, monotonic);
    expect(slots.take()).toBeTrue();
    const waiting = slots.take();
    slots.stop();
    expect(await waiting).toBeFalse();
    slots.release();
    expect(slots.take()).toBeFalse();
  });
});

describe('room for so many bytes', () => {
  const heard = async (taken: Promise<boolean> | boolean, said: string[], name: string) =>
    said.push(`${name} ${await taken}`);
  const turn = () => new Promise((resolve) => setImmediate(resolve));

  test('is given to as many as fit, and what is larger than all of it passes alone', async () => {
    const room = new WeightedSemaphore(100, monotonic);
    const said: string[] = [];
    expect([room.tryTake(60), room.tryTake(40), room.tryTake(1)]).toEqual([true, true, false]);
    void heard(room.take(1_000), said, 'giant');
    room.release(60);
    await turn();
    expect(said).toEqual([]);
    room.release(40);
    await turn();
    expect(said).toEqual(['giant true']);
    expect(room.tryTake(1)).toBeFalse();
    room.release(1_000);
    expect([room.tryTake(100), room.tryTake(1)]).toEqual([true, false]);
  });

  test('is not kept from the small by a large one that waits, nor for ever from the large one by the small', async () => {
    let now = 0;
    const room = new WeightedSemaphore(100, () => now);
    const said: string[] = [];
    expect(room.tryTake(60)).toBeTrue();
    void heard(room.take(90), said, 'large');
    expect(room.take(30)).toBeTrue();
    room.release(30);
    now = 5_000;
    void heard(room.take(30), said, 'late');
    await turn();
    expect(said).toEqual([]);
    room.release(60);
    await turn();
    expect(said).toEqual(['large true']);
    room.release(90);
    await turn();
    expect(said).toEqual(['large true', 'late true']);
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
    () => Promise.reject(new Error('nobody is told anything')),
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
