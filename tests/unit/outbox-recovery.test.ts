import { expect, test } from 'bun:test';
import pino from 'pino';
import { Outbox } from '../../src/engine/runtime/outbox.ts';
import type { Database } from '../../src/platform/db/database.ts';
import { mintId } from '../../src/platform/db/ids.ts';

const NOW = Date.parse('2026-11-22T12:00:00Z');

/** Forgotten mail, of which the first few cannot be delivered. */
function office({ poisoned, sound }: { poisoned: number; sound: number }) {
  const ids = Array.from({ length: poisoned + sound }, (_, n) => mintId('mail', NOW - 60_000 + n));
  const bad = new Set(ids.slice(0, poisoned));
  let stored = [...ids];
  const pages: number[] = [];
  const database = {
    query: async (text: string, parameters: readonly unknown[]) => {
      if (text.startsWith('delete')) {
        stored = stored.filter((id) => id !== parameters[0]);
        return [];
      }
      const [after, before] = parameters as [string, string];
      const page = stored.filter((id) => id > after && id < before).slice(0, 500);
      pages.push(page.length);
      return page.map((id) => ({ id, kind: 'endpoint', to: 'wh_1', event: { type: 'counted', at: NOW } }));
    },
  } as unknown as Database;
  const logged: string[] = [];
  const logger = pino({ level: 'warn' }, { write: (line) => void logged.push(line) });
  const deliver = async (_kind: string, _id: string, _event: unknown, mail: string) => {
    if (bad.has(mail)) throw new Error('It cannot be stored.');
    return { outcome: 'refused', state: 'active', context: {} } as const;
  };
  const clock = { now: () => NOW, monotonic: () => 0 };
  return { office: new Outbox(database, clock, deliver, logger), left: () => stored, bad, pages, logged };
}

test('mail that can never be delivered does not stand before all other', async () => {
  const { office: post, left, bad, logged } = office({ poisoned: 1_200, sound: 300 });
  await post.recover();
  expect(left()).toEqual([...bad]);
  expect(logged).toHaveLength(1);
  expect(JSON.parse(logged[0] as string)).toMatchObject({ undelivered: 1_200 });
});

test('more than may be under way is gone through turn by turn', async () => {
  const { office: post, left, bad, pages } = office({ poisoned: 10_200, sound: 100 });
  expect(await post.recover()).toBe(10_000);
  expect(left()).toHaveLength(10_300);
  expect(await post.recover()).toBe(300);
  expect(left()).toEqual([...bad]);
  expect(pages.at(-1)).toBe(300);
  expect(await post.recover()).toBe(10_000);
});
