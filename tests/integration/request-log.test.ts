import { expect, test } from 'bun:test';
import {
  KEPT_DAYS,
  KEPT_OF_KEY,
  KEPT_OF_LIST,
  requestLogPruner,
  requestLogTrimmer,
} from '../../src/accounts/request-log/pruners.ts';
import { lowestIdAt, mintId } from '../../src/platform/db/ids.ts';
import { ManualClock } from '../support/engine.ts';
import { onEachStore, type SharedStore } from '../support/shared-store.ts';

const DAY = 86_400_000;
const NOW = Date.parse('2026-11-27T12:00:00.000Z');

const FILL = `insert into api_requests (id, workspace_id, livemode, api_key_id, method, route, path, status, duration_ms)
select 'req_' || $1 || lpad(i::text, 6, '0'), $1, $2::boolean, $3, 'GET', '/v1/emails', '/v1/emails', 200, 1
from generate_series(1, $4::integer) i`;

const left = async ({ database }: SharedStore, where: string) => {
  const [row] = await database.query<{ count: number; least: string | null }>(
    `select count(*)::integer as count, min(id) as least from api_requests where ${where}`,
  );
  return row;
};

onEachStore('the bounds of the log of requests', (store) => {
  const trim = (keys: readonly string[], lists: readonly string[]) =>
    requestLogTrimmer(store, {
      writtenTo: () => ({ keys: new Set(keys), lists: new Set(lists) }),
      keepWrittenTo: () => expect.unreachable(),
    }).run();

  test('of each key the latest thousand stay', async () => {
    await store.database.query(FILL, ['ws_1', 'true', 'key_full', KEPT_OF_KEY]);
    await store.database.query(FILL, ['ws_2', 'true', 'key_over', KEPT_OF_KEY + 1]);
    await store.database.query(FILL, ['ws_3', 'true', 'key_other', KEPT_OF_KEY + 1]);
    await trim(['key_full', 'key_over'], ['ws_1 true', 'ws_2 true']);
    expect((await left(store, `api_key_id = 'key_full'`))?.count).toBe(KEPT_OF_KEY);
    expect(await left(store, `api_key_id = 'key_over'`)).toEqual({
      count: KEPT_OF_KEY,
      least: 'req_ws_2000002',
    });
    // Another instance has written to it, and trims it.
    expect((await left(store, `api_key_id = 'key_other'`))?.count).toBe(KEPT_OF_KEY + 1);
  });

  test('of a workspace the latest ten thousand stay in each environment', async () => {
    const keys = Array.from({ length: 11 }, (_, n) => `key_${n}`);
    for (const [n, key] of keys.entries())
      await store.database.query(
        FILL.replace('$1 || lpad', `$1 || '${String(n).padStart(2, '0')}' || lpad`),
        ['ws_4', 'true', key, KEPT_OF_KEY],
      );
    await store.database.query(FILL, ['ws_4t', 'false', 'key_test', 10]);
    await trim(keys, ['ws_4 true', 'ws_4t false']);
    expect((await left(store, `workspace_id = 'ws_4'`))?.count).toBe(KEPT_OF_LIST);
    expect((await left(store, `api_key_id = 'key_0'`))?.count).toBe(0);
    expect((await left(store, `workspace_id = 'ws_4t'`))?.count).toBe(10);
  });

  test('requests stay for seven days, and no longer than the data of their environment', async () => {
    const insert = async (at: number, livemode: boolean, key: string) =>
      store.database.query(
        `insert into api_requests (id, workspace_id, livemode, api_key_id, method, route, path, status, duration_ms)
         values ($1, 'ws_5', $2, $3, 'GET', '/v1/emails', '/v1/emails', 200, 1)`,
        [at === 0 ? lowestIdAt('req', NOW - KEPT_DAYS * DAY) : mintId('req', NOW - at), livemode, key],
      );
    await insert(0, true, 'live at the bound');
    await insert(KEPT_DAYS * DAY + 1, true, 'live too old');
    await insert(3 * DAY - 1, false, 'test young');
    await insert(3 * DAY + 1, false, 'test too old');
    const config = { retentionLiveDays: 90, retentionTestDays: 3 };
    await requestLogPruner({ database: store.database, clock: new ManualClock(NOW), config }).run();
    const rows = await store.database.query<{ api_key_id: string }>(
      `select api_key_id from api_requests where workspace_id = 'ws_5' order by 1`,
    );
    expect(rows.map((row) => row.api_key_id)).toEqual(['live at the bound', 'test young']);
  });
});
