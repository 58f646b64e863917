import { expect, test } from 'bun:test';
import { randomBytes } from 'node:crypto';
import { journalsOf } from '../../src/accounts/workspace/erase.ts';
import { exportWorkspace } from '../../src/accounts/workspace/export.ts';
import { MODULE_KINDS } from '../../src/modules.ts';
import type { Database } from '../../src/platform/db/database.ts';
import { fillWorkspace } from '../support/full-workspace.ts';
import { onEachStore } from '../support/shared-store.ts';

const MIB = 1_048_576;
/** Of random octets, so that the database stores them as large as they are. */
const LARGE = 3 * MIB;
const IMAGES = 9;

onEachStore('a workspace is exported', (store) => {
  test('in statements of few octets, every row once, however large some of them are', async () => {
    await fillWorkspace(store.database, 'ws_out', 60);
    for (let n = 0; n < IMAGES; n++) {
      const id = `ast_large${n}`;
      await store.database.query(
        `insert into assets (id, workspace_id, livemode, file, filename, content_type, width, height, size, created_at)
         values ($1, 'ws_out', true, $1, 'x.png', 'image/png', 1, 1, 1, now())`,
        [id],
      );
      await store.database.query(
        "insert into asset_contents (asset_id, content) values ($1, decode($2, 'base64'))",
        [id, randomBytes(LARGE).toString('base64')],
      );
    }
    let most = 0;
    const database: Database = new Proxy(store.database, {
      get: (it, name) =>
        name === 'query'
          ? async (text: string, parameters: never[]) => {
              const rows = await it.query<{ row?: unknown }>(text, parameters);
              most = Math.max(most, JSON.stringify(rows).length);
              return rows;
            }
          : Reflect.get(it, name),
    });
    const lines: string[] = [];
    for await (const line of exportWorkspace(database, journalsOf(MODULE_KINDS), 'ws_out')) {
      const { table, row } = JSON.parse(line);
      if (table === 'asset_contents' || table === 'contacts') lines.push(row.asset_id ?? row.id);
    }
    const large = lines.filter((id) => id.startsWith('ast_large'));
    expect(large).toEqual(Array.from({ length: IMAGES }, (_, n) => `ast_large${n}`));
    expect(new Set(lines).size).toBe(lines.length);
    expect(lines.filter((id) => id.includes('_con_'))).toHaveLength(60);
    // Two of the large rows, in hexadecimal digits.
    expect(most).toBeLessThan(4 * LARGE + MIB);
  });
});
