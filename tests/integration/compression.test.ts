import { expect, test } from 'bun:test';
import { ensurePartitions } from '../../src/db/partitions.ts';
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

  // The PostgreSQL of the tests is built without lz4, Debian's and Docker's with it: the same statement holds for both.
  test('are compressed with lz4 where the server has it, when they are captured', async () => {
    const [server] = await rowsOf<{ lz4: boolean }>(
      store.database,
      `select 'lz4' = any(enumvals) as lz4 from pg_settings where name = 'default_toast_compression'`,
    );
    const columns = await rowsOf<{ name: string; compression: string }>(
      store.database,
      `select c.relname as name, a.attcompression::text as compression
     from pg_attribute a join pg_class c on c.oid = a.attrelid
     where c.relkind in ('r', 'p') and c.relname = 'captured' and a.attname = 'raw'`,
    );
    expect(columns).toHaveLength(1);
    const expected = server?.lz4 ? 'l' : '';
    expect(columns.filter(({ compression }) => compression !== expected)).toEqual([]);
  });
});
