import { expect, test } from 'bun:test';
import { ensurePartitions } from '../../src/platform/db/partitions.ts';
import { rowsOf } from '../support/engine.ts';
import { onEachStore } from '../support/shared-store.ts';

onEachStore('message bodies in storage', (store) => {
  test('come compressed, and the server does not try it again', async () => {
    await ensurePartitions(store.database, Date.now());
    const columns = await rowsOf<{ storage: string }>(
      store.database,
      `select a.attstorage as storage from pg_attribute a join pg_class c on c.oid = a.attrelid
       where c.relkind in ('r', 'p') and (c.relname = 'emails' or c.relname ~ '^emails_(default|\\d+)$') and a.attname = 'content'`,
    );
    // The parent, the default partition, today and the days ahead.
    expect(columns.length).toBeGreaterThan(4);
    expect(columns.filter(({ storage }) => storage !== 'e')).toEqual([]);
  });

  test('come compressed when they are captured, too', async () => {
    const columns = await rowsOf<{ storage: string }>(
      store.database,
      `select a.attstorage as storage from pg_attribute a join pg_class c on c.oid = a.attrelid
       where c.relkind = 'r' and c.relname = 'captured' and a.attname = 'raw'`,
    );
    expect(columns).toEqual([{ storage: 'e' }]);
  });
});
