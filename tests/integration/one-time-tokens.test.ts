import { afterAll, beforeAll, expect, test } from 'bun:test';
import { tokenPruner } from '../../src/engine/duties/token-pruner.ts';
import { OneTimeTokens } from '../../src/http/auth/passwords/one-time-tokens.ts';
import type { Database } from '../../src/platform/db/database.ts';
import { migrate } from '../../src/platform/db/migrate.ts';
import { openDatabase } from '../../src/platform/db/open.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts';

const NOW = Date.parse('2026-11-20T12:00:00Z');
const HOUR = 3_600_000;
const SUBJECT = { workspaceId: 'ws_1', livemode: false };

let made: TestDatabase;
let database: Database;
beforeAll(async () => {
  made = await createTestDatabase();
  database = await openDatabase({ url: made.url, dataDir: null });
  await migrate(database);
});
afterAll(async () => {
  await database.close();
  await made.close();
});

const tokensAt = (clock: { now: number }, purpose = 'test') =>
  new OneTimeTokens<typeof SUBJECT>(database, purpose, () => clock.now);

test('a token is good once, whichever of several instances is asked at the same moment', async () => {
  const clock = { now: NOW };
  const token = await tokensAt(clock).issue(SUBJECT, NOW + HOUR);
  expect(token).toMatch(/^[\w-]{43}$/);
  const redeemed = await Promise.all(Array.from({ length: 10 }, () => tokensAt(clock).redeem(token)));
  expect(redeemed.filter((subject) => subject !== null)).toEqual([SUBJECT]);
  expect(await tokensAt(clock).redeem(token)).toBeNull();
});

test('a token of another purpose, one that was never issued, and one that is too old are none', async () => {
  const clock = { now: NOW };
  const token = await tokensAt(clock).issue(SUBJECT, NOW + HOUR);
  expect(await tokensAt(clock, 'other').redeem(token)).toBeNull();
  for (const odd of ['', 'x', `${token}x`, token.slice(1), 'a\nb', '\0'])
    expect([odd, await tokensAt(clock).redeem(odd)]).toEqual([odd, null]);
  clock.now = NOW + HOUR;
  expect(await tokensAt(clock).redeem(token)).toBeNull();
  clock.now -= 1;
  expect(await tokensAt(clock).redeem(token)).toEqual(SUBJECT);
});

test('nothing that is stored can be used', async () => {
  const token = await tokensAt({ now: NOW }).issue(SUBJECT, NOW + HOUR);
  const rows = await database.query<Record<string, unknown>>('select * from one_time_tokens');
  expect(rows.length).toBeGreaterThan(0);
  expect(JSON.stringify(rows)).not.toContain(token);
});

test('the tokens whose time is over are removed, used or not; the others stay', async () => {
  const clock = { now: NOW };
  await database.query('delete from one_time_tokens');
  const [used, , kept] = await Promise.all(
    [HOUR, HOUR, HOUR + 1].map((ms) => tokensAt(clock).issue(SUBJECT, NOW + ms)),
  );
  await tokensAt(clock).redeem(used ?? '');
  clock.now = NOW + HOUR + 1;
  const unused = { authenticator: { noteUse: async () => {} }, engine: { recoverOutbox: async () => 0 } };
  await tokenPruner({ database, clock: { ...unusedClock, now: () => clock.now }, ...unused }).run();
  const rows = await database.query<{ hash: string }>('select hash from one_time_tokens');
  expect(rows).toHaveLength(1);
  clock.now = NOW;
  expect(await tokensAt(clock).redeem(kept ?? '')).toEqual(SUBJECT);
});

const unusedClock = { monotonic: () => 0 };
