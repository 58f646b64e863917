import { expect, test } from 'bun:test';
import { DueBatches, type WakeResult } from '../../src/engine/runtime/timers/due-batches.ts';
import { OpenStore } from '../../src/engine/store/open-store.ts';
import type { Database } from '../../src/platform/db/database.ts';
import { domainKind } from '../../src/sending/domains/kind.ts';

const NOW = Date.parse('2026-11-20T12:00:00.000Z');

/** Batches of actors that are all due at one moment, of an instance that is alone. */
function scene(count: number, wake: (ids: readonly string[]) => Partial<WakeResult>) {
  let due = Array.from({ length: count }, (_, n) => ({ id: `actor ${n}`, due_at: NOW - 5 }));
  const told = { claims: 0, looks: 0 };
  let monotonic = 0;
  const database = {
    query: async (text: string, [, limit]: readonly unknown[]) => {
      const found = due.slice(0, Number(limit));
      if (text.startsWith('with due')) {
        told.claims++;
        due = due.slice(found.length);
      } else told.looks++;
      if (told.looks > 100) throw new Error('It looks for the same again and again.');
      return found;
    },
  } as unknown as Database;
  const clock = { now: () => NOW, monotonic: () => monotonic };
  const batches = new DueBatches(
    {
      store: new OpenStore(domainKind, { database, clock }),
      room: () => 5_000,
      wake: async (rows) => {
        const ids = rows.map(({ id }) => id);
        const woken = { left: [], isContested: false, ...wake(ids) };
        const left = new Set(woken.left);
        due = due.filter(({ id }) => !ids.includes(id) || left.has(id));
        return woken;
      },
    },
    {
      database,
      clock,
      isStopped: () => false,
      areShared: () => false,
    },
  );
  return {
    told,
    left: () => due.length,
    pass: () => batches.wake(NOW - 10_000, null),
    minutes: (count: number) => {
      monotonic += count * 60_000;
    },
  };
}

test('a change by another instance is no reason to claim, as long as it is not found again', async () => {
  const { told, pass, left } = scene(1_200, () => ({}));
  expect(await pass()).toEqual({ upTo: NOW, isNothing: false });
  expect([told.claims, left()]).toEqual([0, 0]);
  expect(await pass()).toEqual({ upTo: NOW, isNothing: true });
  const changed = scene(3, (ids) => ({ left: ids.slice(0, 1) }));
  await changed.pass();
  expect(changed.told.claims).toBe(0);
});

test('what is found again as it was is claimed in the same pass, however many are due at one moment', async () => {
  const { told, pass, left } = scene(1_200, (ids) => ({ left: ids }));
  await pass();
  expect(left()).toBe(0);
  expect(told.claims).toBeGreaterThan(0);
});

test('what is found again in the next pass is claimed', async () => {
  const { told, pass, left } = scene(3, (ids) => ({ left: ids }));
  await pass();
  expect([told.claims, left()]).toEqual([0, 3]);
  await pass();
  expect([told.claims > 0, left()]).toEqual([true, 0]);
});

test('a race that was lost is a reason to claim for a minute', async () => {
  const { told, pass, minutes } = scene(3, () => ({ isContested: true }));
  await pass();
  expect(told.claims).toBe(0);
  await pass();
  expect(told.claims).toBe(1);
  minutes(1);
  await pass();
  expect(told.claims).toBe(1);
});
