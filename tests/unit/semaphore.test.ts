import { describe, expect, test } from 'bun:test';
import type { Order } from '../../src/engine/machine/draft.ts';
import { OrderRunner } from '../../src/engine/runtime/performers.ts';
import { Semaphore } from '../../src/platform/async/semaphore.ts';

const monotonic = (): number => performance.now();

describe('the slots of live mail', () => {
  test('are had at once while there are any, then in the order of asking', async () => {
    const slots = new Semaphore(2, monotonic);
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
    const slots = new Semaphore(1, monotonic, 1);
    expect(slots.take()).toBeTrue();
    const waiting = slots.take();
    expect([slots.capacity, slots.take()]).toEqual([0, false]);
    slots.release();
    expect(await waiting).toBeTrue();
    expect(slots.capacity).toBe(1);
  });

  test('are given out no more once the service stops', async () => {
    const slots = new Semaphore(1, monotonic);
    expect(slots.take()).toBeTrue();
    const waiting = slots.take();
    slots.stop();
    expect(await waiting).toBeFalse();
    slots.release();
    expect(slots.take()).toBeFalse();
  });
});

describe('a semaphore', () => {
  test('runs so many at once, the others in the order they came, and says when all have ended', async () => {
    const semaphore = new Semaphore(2);
    const running: string[] = [];
    const ends = new Map<string, () => void>();
    const run = (name: string) =>
      semaphore.run(() => {
        running.push(name);
        return new Promise<void>((resolve) => ends.set(name, resolve));
      });
    const all = ['a', 'b', 'c'].map(run);
    let hasDrained = false;
    const drained = semaphore.drained().then(() => {
      hasDrained = true;
    });
    await Promise.resolve();
    expect(running).toEqual(['a', 'b']);
    ends.get('a')?.();
    await all[0];
    await Promise.resolve();
    expect(running).toEqual(['a', 'b', 'c']);
    ends.get('b')?.();
    await all[1];
    expect([hasDrained, semaphore.idle]).toEqual([false, false]);
    ends.get('c')?.();
    await all[2];
    await drained;
    expect([hasDrained, semaphore.idle]).toEqual([true, true]);
  });

  test('gives back what failed work took', async () => {
    const semaphore = new Semaphore(1);
    const failing = semaphore.run(() => Promise.reject(new Error('broken')));
    expect(await failing.catch((error: Error) => error.message)).toBe('broken');
    expect(semaphore.idle).toBeTrue();
  });

  test('lets go of those whose signal fires while they wait, and of those whose signal had fired', async () => {
    const semaphore = new Semaphore(2);
    expect(semaphore.take()).toBeTrue();
    const abort = new AbortController();
    // The one that needs both units is first in the line; once it has given up, nothing is kept for it.
    const large = semaphore.take(2, abort.signal);
    abort.abort();
    expect(await large).toBeFalse();
    expect(semaphore.take(1, abort.signal)).toBeFalse();
    const late = semaphore.run(
      async () => 'ran',
      abort.signal,
      () => new Error('gave up'),
    );
    expect(await late.catch((error: Error) => error.message)).toBe('gave up');
    expect(semaphore.take()).toBeTrue();
    semaphore.release(2);
    expect(semaphore.idle).toBeTrue();
  });

  test('grants what it kept for one that has given up to those behind', async () => {
    let now = 0;
    const semaphore = new Semaphore(2, () => now);
    expect(semaphore.take()).toBeTrue();
    const abort = new AbortController();
    const large = semaphore.take(2, abort.signal);
    now = 5_000;
    const small = semaphore.take();
    expect(semaphore.tryTake()).toBeFalse();
    abort.abort();
    expect([await large, await small]).toEqual([false, true]);
  });
});

describe('room for so many bytes', () => {
  const heard = async (taken: Promise<boolean> | boolean, said: string[], name: string) =>
    said.push(`${name} ${await taken}`);
  const turn = () => new Promise((resolve) => setImmediate(resolve));

  test('is given to as many as fit, and what is larger than all of it passes alone', async () => {
    const room = new Semaphore(100, monotonic);
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
    const room = new Semaphore(100, () => now);
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

test('an order that cannot be begun is declined, instead of being left to its lease', async () => {
  const reported: string[] = [];
  const begun = Promise.withResolvers<[]>();
  const performing = new OrderRunner(
    {
      slots: 1,
      backlog: 1,
      perform: () => begun.promise,
      declined: () => [{ type: 'attempt.declined', at: 0 }],
    },
    async ({ actor }, events) => void reported.push(...events.map(({ type }) => `${actor.id} ${type}`)),
    () => {},
    () => Promise.reject(new Error('no event may be sent')),
  );
  const order = (id: string): Order => ({
    kind: 'email',
    actor: { id } as never,
    effect: { type: 'transmit', params: {} },
  });
  for (const id of ['runs', 'waits', 'is too much']) performing.take(order(id));
  expect(reported).toEqual(['is too much attempt.declined']);
  const stopped = performing.stopped();
  // The running one has not ended yet.
  await Promise.resolve();
  expect(reported).toEqual(['is too much attempt.declined', 'waits attempt.declined']);
  begun.resolve([]);
  await stopped;
});
