import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import postgres from 'postgres';
import { freePort } from '../../src/ops/torture/free-port.ts';
import { findPrograms, packaged } from '../../src/ops/torture/postgres-programs.ts';
import { PostgresServer } from '../../src/ops/torture/postgres-server.ts';
import type { Database, Parameter } from '../../src/platform/db/database.ts';
import { lowestIdAt } from '../../src/platform/db/ids.ts';
import { migrate } from '../../src/platform/db/migrate.ts';
import { openDatabase } from '../../src/platform/db/open.ts';
import { countEmails, readPage } from '../../src/sending/emails/read/page.ts';
import type { EmailQuery } from '../../src/sending/emails/read/query-model.ts';
import { emailWaitingRoom } from '../../src/sending/emails/wait/wait-for-email.ts';
import { rowsOf } from '../support/engine.ts';

// PostgreSQL 18 ends a scan at a row that is its bound; 15 to 17 go on to the end of the workspace in that
// day. A list between two moments, its count and each look of a wait read all emails behind the bound there.
// So this runs on each server that the machine has: the one of the package, and the one of the system.

const NOW = Date.parse('2026-11-20T12:00:00.000Z');
const EMAILS = 30_000;
/** One email each 100 ms. */
const STEP_MS = 100;
const BEGUN = NOW - EMAILS * STEP_MS;

const programs = new Set([packaged(), findPrograms(null)].filter((folder) => folder !== null));

interface Node {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly 'Shared Hit Blocks'?: number;
  readonly 'Shared Read Blocks'?: number;
  readonly Plans?: readonly Node[];
}

const nodesOf = (node: Node): readonly Node[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)];

const atOf = (n: number): string => new Date(BEGUN + n * STEP_MS).toISOString();

describe.each([...programs])('with the PostgreSQL in %s', (folder) => {
  let server: PostgresServer;
  let database: Database;
  let sql: postgres.Sql;

  beforeAll(async () => {
    server = await PostgresServer.start({ programs: folder, port: await freePort() });
    database = await openDatabase({ url: server.url('postgres'), dataDir: null });
    await migrate(database);
    const ids = Array.from({ length: EMAILS }, (_, n) => lowestIdAt('em', BEGUN + n * STEP_MS));
    await rowsOf(
      database,
      `insert into emails (id, workspace_id, livemode, state, context, machine_version, commit_tag, steps, at, recipients,
         recipient_keys, sender_key, subject, tags, envelope, content)
       select id, 'ws_' || n % 2, true, 'delivered', '{}', 1, 1, '[]', now(), '{}', '{}', '', 'Order', '{}', '{}', ''
       from unnest($1::text[]) with ordinality u(id, n)`,
      [ids],
    );
    await database.script('vacuum analyze emails');
    // One plan for all owners, as the service has it.
    sql = postgres(server.url('postgres'), { max: 1, connection: { plan_cache_mode: 'force_generic_plan' } });
  });
  afterAll(async () => {
    await sql?.end();
    await database?.close();
    await server?.remove();
  });

  /** A database that notes the pages of emails that its statements read, and the ways to them. */
  function watched() {
    const seen = { pages: 0, ways: new Set<string>() };
    const reads = {
      kind: 'postgres',
      async query(text: string, parameters: readonly Parameter[] = []) {
        await sql.unsafe(`prepare asked as ${text}`);
        const given = parameters.map((value) =>
          Array.isArray(value) ? `array['${value.join("', '")}']` : `'${value}'`,
        );
        const [row] = await sql.unsafe(`explain (analyze, buffers, format json) execute asked(${given})`);
        await sql.unsafe('deallocate asked');
        for (const node of nodesOf(row?.['QUERY PLAN'][0]?.Plan))
          if (node['Relation Name']?.startsWith('emails_')) {
            seen.pages += (node['Shared Hit Blocks'] ?? 0) + (node['Shared Read Blocks'] ?? 0);
            seen.ways.add(node['Index Name'] ?? node['Node Type']);
          }
        return database.query(text, parameters);
      },
    } as unknown as Database;
    return { seen, reads };
  }

  const owner = { workspaceId: 'ws_1', livemode: true, isOnNodes: false };
  const expectByWorkspace = (ways: ReadonlySet<string>) =>
    expect([...ways].filter((way) => !way.includes('workspace_id_livemode_id'))).toEqual([]);

  test.each([
    ['newest first', undefined],
    ['oldest first', 'createdAt'],
  ] as const)('a list between two moments reads its range alone, %s', async (_, sort) => {
    for (const [from, below] of [
      [0, 40],
      [EMAILS / 2, EMAILS / 2 + 40],
      [EMAILS - 40, EMAILS],
    ] as const) {
      const { seen, reads } = watched();
      const query = { limit: 50, createdAfter: atOf(from), createdBefore: atOf(below), sort } as EmailQuery;
      const found = await readPage(reads, owner, query, { after: null, now: NOW });
      if (!('rows' in found)) throw new Error(found.message);
      expect(found.rows).toHaveLength(20);
      const inOrder = found.rows.map(({ id }) => id);
      expect(inOrder).toEqual(sort ? inOrder.toSorted() : inOrder.toSorted().reverse());
      expect(seen.pages).toBeGreaterThan(0);
      expect(seen.pages).toBeLessThanOrEqual(80);
      expectByWorkspace(seen.ways);
    }
  });

  test('a count between two moments looks no further than any count, and counts its range alone', async () => {
    const { seen, reads } = watched();
    const query = { createdAfter: atOf(EMAILS - 80), createdBefore: atOf(EMAILS - 40) };
    expect(await countEmails(reads, owner, query as never, NOW)).toEqual({ count: 20, isExact: true });
    const all = watched();
    expect(await countEmails(all.reads, owner, {} as never, NOW)).toEqual({ count: 10_000, isExact: false });
    expect(seen.pages).toBeLessThanOrEqual(all.seen.pages + 10);
    expectByWorkspace(seen.ways);
  });

  test.each([
    ['behind an id that is given', EMAILS - 40, false, 30],
    ['of all days, but for the newest', -1, true, 1_200],
  ] as const)('a wait looks at the emails of its workspace %s', async (_, n, isNewest, most) => {
    const { seen, reads } = watched();
    const engine = { listen: () => () => {} } as never;
    const room = emailWaitingRoom({ database: reads, engine, now: () => NOW });
    const want = {
      group: 'ws_1 true',
      workspaceId: 'ws_1',
      livemode: true,
      subject: null,
      forms: ['none@x.example'],
      after: n < 0 ? 'em_' : lowestIdAt('em', BEGUN + n * STEP_MS),
      isNewest,
    };
    expect(await room.wait('key_1', want, 0)).toBeNull();
    expect(seen.pages).toBeGreaterThan(0);
    expect(seen.pages).toBeLessThanOrEqual(most);
    expectByWorkspace(seen.ways);
  });
});
