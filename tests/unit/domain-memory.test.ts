import { expect, test } from 'bun:test';
import type { CommitListener } from '../../src/engine/engine.ts';
import type { Kind } from '../../src/engine/machine/kind.ts';
import type { Database } from '../../src/platform/db/database.ts';
import { cachedSendingDomains } from '../../src/sending/domains/sending-domains.ts';

const ROW = {
  id: 'dom_1',
  name: 'shop.test',
  state: 'verified',
  context: { records: [], openTracking: false, clickTracking: false },
  selector: 's',
  return_path: 'send.shop.test',
  tracking_domain: null,
  rsa: 'sealed',
  ed25519: 'sealed',
};

/** A memory over a database that answers these rows, and counts how often it is asked. */
function aMemory(rows: readonly object[]) {
  const state = { asked: 0, now: 0, rows, commit: (_kind: string): void => {}, answer: Promise.resolve() };
  const database = {
    async query() {
      state.asked += 1;
      const seen = state.rows;
      await state.answer;
      return seen;
    },
  } as unknown as Database;
  const engine = {
    listen(listener: CommitListener) {
      state.commit = (name) => listener({ name } as Kind, []);
      return () => {};
    },
  };
  const find = cachedSendingDomains(database, engine, () => state.now);
  return { state, ask: async () => (await find('ws_1', 'shop.test'))?.id ?? null };
}

test('the domain cache keeps a found domain for a second', async () => {
  const { state, ask } = aMemory([ROW]);
  for (const now of [0, 500, 999]) {
    state.now = now;
    expect(await ask()).toBe('dom_1');
  }
  expect(state.asked).toBe(1);
  state.now = 1_000;
  await ask();
  expect(state.asked).toBe(2);
});

test('the domain cache keeps no missing domain', async () => {
  const { state, ask } = aMemory([]);
  expect([await ask(), await ask()]).toEqual([null, null]);
  state.rows = [ROW];
  expect(await ask()).toBe('dom_1');
  expect(state.asked).toBe(3);
});

test('the domain cache is cleared by a change of any domain and by nothing else', async () => {
  const { state, ask } = aMemory([ROW]);
  await ask();
  state.commit('email');
  await ask();
  expect(state.asked).toBe(1);
  state.rows = [];
  state.commit('domain');
  expect(await ask()).toBeNull();
});

test('the domain cache drops what was read before a change', async () => {
  const { state, ask } = aMemory([ROW]);
  const { promise, resolve } = Promise.withResolvers<void>();
  state.answer = promise;
  const early = ask();
  state.commit('domain');
  state.rows = [];
  resolve();
  expect(await early).toBe('dom_1');
  expect(await ask()).toBeNull();
});
