import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { freePort } from '../../src/ops/torture/free-port.ts';
import { findPrograms, packaged } from '../../src/ops/torture/postgres-programs.ts';
import { PostgresServer } from '../../src/ops/torture/postgres-server.ts';
import type { Database } from '../../src/platform/db/database.ts';
import { migrate } from '../../src/platform/db/migrate.ts';
import { openDatabase } from '../../src/platform/db/open.ts';
import { contactOfSql } from '../../src/sending/suppressions/queries.ts';
import { rowsOf } from '../support/engine.ts';

// PostgreSQL 18 ends a scan at a row that is its upper bound; 15 to 17 go on to the end of the workspace. An
// import of new people, or a message to strangers, read all contacts behind each address there, until the
// statement timed out. So this runs on each server that the machine has: the one of the package, and the one
// of the system.

const CONTACTS = 20_000;
const SOUGHT = 100;
/** The levels of the index, and the row that is found. */
const PAGES_OF_ONE = 6;

const programs = new Set([packaged(), findPrograms(null)].filter((folder) => folder !== null));

const lookSql = (suffix: string): string =>
  `select found.id from generate_series(1, ${SOUGHT}) n cross join lateral ${contactOfSql({
    workspaceId: `'ws'::text`,
    livemode: 'true',
    key: `('e' || n * 100 || '${suffix}')`,
  })} found`;

interface Explained {
  readonly 'QUERY PLAN': readonly {
    readonly Plan: Record<'Shared Hit Blocks' | 'Shared Read Blocks' | 'Actual Rows', number>;
  }[];
}

describe.each([...programs])('with the PostgreSQL in %s', (folder) => {
  let server: PostgresServer;
  let database: Database;

  beforeAll(async () => {
    server = await PostgresServer.start({ programs: folder, port: await freePort() });
    database = await openDatabase({ url: server.url('postgres'), dataDir: null });
    await migrate(database);
    await rowsOf(
      database,
      `insert into contacts (workspace_id, livemode, id, email, email_key, properties, status, created_at, updated_at)
      select w, true, 'con_' || n, 'e' || n, 'e' || n, '{}', 'subscribed', now(), now()
      from generate_series(1, ${CONTACTS}) n cross join (values ('ws'), ('ws_other')) as w(w)`,
    );
    await database.script('vacuum analyze contacts');
  });

  afterAll(async () => {
    await database.close();
    await server.remove();
  });

  test.each([
    ['that is there', '', SOUGHT],
    ['that is not there', '-not', 0],
  ] as const)('an address %s costs the pages of one contact', async (_, suffix, found) => {
    const [row] = await rowsOf<Explained>(
      database,
      `explain (analyze, buffers, format json) ${lookSql(suffix)}`,
    );
    const plan = row?.['QUERY PLAN'][0]?.Plan;
    expect(plan?.['Actual Rows']).toBe(found);
    expect((plan?.['Shared Hit Blocks'] ?? 0) + (plan?.['Shared Read Blocks'] ?? 0)).toBeLessThanOrEqual(
      SOUGHT * PAGES_OF_ONE,
    );
  });

  test('no contact of another workspace, environment or address is found', async () => {
    const look = (workspaceId: string, livemode: string, key: string) =>
      rowsOf<{ id: string }>(
        database,
        `select id from ${contactOfSql({ workspaceId: `'${workspaceId}'`, livemode, key: `'${key}'` })} c`,
      );
    expect(await look('ws', 'true', 'e5')).toEqual([{ id: 'con_5' }]);
    expect(await look('ws', 'false', 'e5')).toEqual([]);
    expect(await look('ws', 'true', 'e')).toEqual([]);
    expect(await look('ws', 'true', 'f')).toEqual([]);
    expect(await look('w', 'true', 'e5')).toEqual([]);
    expect(await look('ws_none', 'true', 'e5')).toEqual([]);
  });
});
