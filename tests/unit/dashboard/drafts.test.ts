import { afterAll, beforeEach, expect, test } from 'bun:test';
import { type Draft, KEPT_AFTER_END_MS } from '../../../src/web/dashboard/web/application/editing/draft.ts';

const stored = new Map<string, Draft>();

/** As much of IndexedDB as drafts need: one store in memory. */
const asRequest = <Value>(result: Value) => {
  const request = { result, onsuccess: () => {} };
  queueMicrotask(() => request.onsuccess());
  return request;
};
const store = {
  getAll: () => asRequest([...stored.values()]),
  put: (draft: Draft) => asRequest(stored.set(draft.key, draft) && draft.key),
  delete: (key: string) => asRequest(void stored.delete(key)),
  clear: () => asRequest(stored.clear()),
};
const database = { transaction: () => ({ objectStore: () => store }) };
const scope = globalThis as { indexedDB?: unknown };
const before = scope.indexedDB;
scope.indexedDB = { open: () => asRequest(database) };
/**
 * The part of the module that is tested. Its file is checked with the types of a browser, which tests do not
 * have.
 */
interface Drafts {
  keep(draft: Draft): Promise<boolean>;
  leftAt(place: string, account: string, ownKey: string): Promise<Draft | null>;
  clear(): Promise<void>;
  sessionEnded(now: number): Promise<void>;
  resume(account: string, now: number): Promise<void>;
  listen(hear: (told: unknown) => void): () => void;
}
const module: string = '../../../src/web/dashboard/web/application/editing/drafts.ts';
const { drafts } = (await import(module)) as { readonly drafts: Drafts };

beforeEach(() => stored.clear());
afterAll(() => {
  scope.indexedDB = before;
});

const NOW = Date.now();
const draft = (key: string, account = 'ada'): Draft => ({
  key,
  account,
  place: 'campaigns/cmp_1',
  at: NOW,
  updatedAt: '',
  values: { subject: key },
  sums: {},
});
const left = async (account: string) => (await drafts.leftAt('campaigns/cmp_1', account, 'own'))?.key ?? null;

test('the pages of the tab that signs out hear of it before the drafts are removed', async () => {
  const heard: unknown[] = [];
  const unlisten = drafts.listen((told) => heard.push([told, stored.size]));
  await drafts.keep(draft('a'));
  await drafts.clear();
  unlisten();
  await drafts.clear();
  expect(heard).toEqual([['cleared', 1]]);
  expect(stored.size).toBe(0);
});

test('after the end of a session drafts stay for a day, for the account that has typed them', async () => {
  await drafts.keep(draft('a'));
  await drafts.sessionEnded(NOW);
  // The page that closes writes what was typed last.
  await drafts.keep(draft('b'));
  expect([...stored.values()].map(({ endedAt }) => endedAt)).toEqual([NOW, NOW]);
  await drafts.sessionEnded(NOW + KEPT_AFTER_END_MS - 1);
  expect(stored.size).toBe(2);
  await drafts.resume('ada', NOW + KEPT_AFTER_END_MS - 1);
  expect([...stored.values()].map(({ endedAt }) => endedAt)).toEqual([undefined, undefined]);
  expect(await left('ada')).not.toBeNull();

  await drafts.sessionEnded(NOW);
  await drafts.sessionEnded(NOW + KEPT_AFTER_END_MS);
  expect(stored.size).toBe(0);
});

test('a session that begins later than a day after the end of the last finds no draft', async () => {
  await drafts.keep(draft('a'));
  await drafts.sessionEnded(NOW);
  await drafts.resume('ada', NOW + KEPT_AFTER_END_MS);
  expect(stored.size).toBe(0);
});

test('another account finds no draft of the one before', async () => {
  await drafts.keep(draft('a'));
  await drafts.sessionEnded(NOW);
  await drafts.resume('eve', NOW);
  expect([stored.size, await left('eve')]).toEqual([0, null]);
});
