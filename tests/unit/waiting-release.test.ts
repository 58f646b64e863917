import { expect, test } from 'bun:test';
import { SENDER_KNOWN_MS } from '../../src/accounts/workspace/queries.ts';
import type { Database } from '../../src/platform/db/database.ts';
import { waitingReleaser } from '../../src/sending/emails/warm-up/release.ts';

const NOW = Date.parse('2026-11-20T09:00:00.000Z');

const domain = { id: 'dom_1', workspaceId: 'ws_1' };
const clock = { now: () => NOW, monotonic: () => 0 };

test('what waits for a warm-up asks again once every instance has forgotten the one before', async () => {
  const asked: unknown[][] = [];
  const database = {
    query: async (_sql: string, parameters: unknown[]) => {
      asked.push(parameters);
      return asked.length === 2 ? Array.from({ length: 1_000 }, (_, id) => ({ id: String(id) })) : [];
    },
  } as never as Database;
  let told = 0;
  await waitingReleaser(database, clock, { warn() {} } as never, () => told++, [])(domain);
  // Two batches were asked for, and the first one released some.
  expect([asked.length, told]).toEqual([3, 1]);
  const moments = (asked[1] ?? []).map((value) => Date.parse(String(value)) - NOW);
  // An instance that read the domain just before the change knows the old one for so long, and its own clock
  // may be late.
  expect(moments.filter((ms) => ms > 0 && ms < 60_000)).toEqual([2 * SENDER_KNOWN_MS]);
});

test('is looked for again after a look that failed, and for the latest change of a domain alone', async () => {
  const looks: string[] = [];
  const ended = Promise.withResolvers<void>();
  const warnings: unknown[] = [];
  const database = {
    query: async (sql: string, [domains]: unknown[]) => {
      if (sql.startsWith('select')) return [{ id: domains }];
      looks.push(String(domains));
      if (looks.length === 3) throw new Error('no connection');
      if (looks.length === 4) ended.resolve();
      return [];
    },
  } as never as Database;
  const logger = { warn: (told: unknown) => warnings.push(told) } as never;
  const release = waitingReleaser(database, clock, logger, () => {}, [0, 0]);
  await Promise.all([release(domain), release(domain)]);
  await ended.promise;
  // One look of each change, and two more of the latest, of which one failed.
  expect([looks, warnings.length]).toEqual([Array(4).fill('dom_1'), 1]);
});
