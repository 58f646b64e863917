import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test';
import pino from 'pino';
import postgres from 'postgres';
import type { OwnedId } from '../../src/platform/async/batched-read.ts';
import type { Database } from '../../src/platform/db/database.ts';
import { openDatabase } from '../../src/platform/db/open.ts';
import { type ReporterParts, reportSender } from '../../src/sending/emails/reports/reporter.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts';

let served: TestDatabase;
let database: Database;
beforeAll(async () => {
  served = await createTestDatabase();
  database = await openDatabase({ url: served.url, dataDir: null });
});
afterAll(async () => {
  await database.close();
  await served.close();
});
beforeEach(() => database.query('delete from report_requests'));

const NOW = Date.parse('2026-11-27T12:00:00Z');

/** Has a workspace ask for reports on that many emails, so many seconds ago and a bit. */
const askFor = (workspaceId: string, count: number, ago: number) =>
  database.query(
    `insert into report_requests (workspace_id, email_id, recipient, asked_at, next_at)
    select $1, $1 || n, 0, at, at from generate_series(1, $2::integer) n,
      lateral (select $3::text::timestamptz - $4::integer * interval '1 second' - n * interval '1 millisecond' as at) a`,
    [workspaceId, count, new Date(NOW).toISOString(), ago],
  );

/** A look at an email, which is gone. */
type Look = (email: OwnedId) => Promise<null>;

interface World {
  readonly clock?: ReporterParts['clock'];
  readonly query?: Database['query'];
  readonly stop?: AbortSignal;
}

const CLOCK = { now: () => NOW, monotonic: () => 0 };

/** Sends what is due, and looks at emails so. */
async function report(look: Look, { clock = CLOCK, query, stop }: World = {}): Promise<void> {
  const asked = { query: query ?? database.query.bind(database) } as Partial<Database> as Database;
  const parts: Partial<ReporterParts> = {
    database: asked,
    clock,
    logger: pino({ level: 'silent' }),
    reader: { message: look } as Partial<ReporterParts['reader']> as ReporterParts['reader'],
  };
  await reportSender(parts as ReporterParts).run(stop);
}

const left = async (workspaceId: string): Promise<number> =>
  (await database.query('select 1 as one from report_requests where workspace_id = $1', [workspaceId]))
    .length;

test('reports of a workspace that waits for many come in turn with those of others', async () => {
  await askFor('ws_many', 30, 100);
  await askFor('ws_one', 1, 10);
  await askFor('ws_two', 2, 5);
  const order: string[] = [];
  await report(async ({ workspaceId }) => {
    order.push(workspaceId);
    return null;
  });
  expect(
    order
      .slice(0, 10)
      .filter((one) => one !== 'ws_many')
      .toSorted(),
  ).toEqual(['ws_one', 'ws_two', 'ws_two']);
  expect(order).toHaveLength(33);
  expect(await left('ws_many')).toBe(0);
});

test('a workspace whose server does not answer holds no report of another one', async () => {
  await askFor('ws_slow', 12, 100);
  await askFor('ws_one', 12, 10);
  const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
  let monotonic = 0;
  const order: string[] = [];
  const look: Look = async ({ workspaceId }) => {
    order.push(workspaceId);
    if (workspaceId === 'ws_one' && order.filter((one) => one === 'ws_one').length === 5) answer();
    if (workspaceId === 'ws_slow' && monotonic === 0) {
      await answered;
      monotonic = 30_000;
    }
    return null;
  };
  await report(look, { clock: { now: () => NOW, monotonic: () => monotonic } });
  // Five of each were claimed together. One look took the time of all five, and four were given back.
  expect(order.slice(0, 6).toSorted()).toEqual([...Array(5).fill('ws_one'), 'ws_slow']);
  expect(order).toHaveLength(24);
  expect([await left('ws_slow'), await left('ws_one')]).toEqual([0, 0]);
});

test('what a stop leaves is due at once, and no attempt is counted', async () => {
  await askFor('ws_one', 5, 10);
  const stop = new AbortController();
  const look: Look = async () => {
    stop.abort();
    throw new Error('The server does not answer.');
  };
  await report(look, { stop: stop.signal });
  const rows = await database.query<{ attempts: number; wait: number }>(
    `select attempts, extract(epoch from next_at - $1::text::timestamptz)::float8 as wait
    from report_requests order by attempts, next_at`,
    [new Date(NOW).toISOString()],
  );
  expect(rows).toEqual([...Array(4).fill({ attempts: 0, wait: 0 }), { attempts: 1, wait: 5 }]);
});

test('an error ends a run after all looks of it', async () => {
  await askFor('ws_broken', 1, 10);
  await askFor('ws_slow', 1, 10);
  const failed = Promise.withResolvers<void>();
  const answered = Promise.withResolvers<null>();
  const events: string[] = [];
  const query = (async (sql: string, values?: never) => {
    if (String(values?.[0]).startsWith('ws_broken')) {
      failed.resolve();
      throw new Error('The connection is lost.');
    }
    if (sql.startsWith('delete')) events.push('the slow one is done');
    return database.query(sql, values);
  }) as Database['query'];
  const run = report(async ({ workspaceId }) => (workspaceId === 'ws_slow' ? answered.promise : null), {
    query,
  }).catch(({ message }: Error) => events.push(message));
  await failed.promise;
  await new Promise<void>((next) => setImmediate(next));
  answered.resolve(null);
  await run;
  expect(events).toEqual(['the slow one is done', 'The connection is lost.']);
});

test('an instance passes over what another one claims at the same moment, and goes on', async () => {
  await askFor('ws_one', 15, 10);
  const other = postgres(served.url, { max: 1, onnotice: () => {} });
  const looked: string[] = [];
  await other.begin(async (sql) => {
    await sql`select 1 from report_requests order by next_at limit 10 for update`;
    await report(async ({ id }) => {
      looked.push(id);
      return null;
    });
  });
  await other.end();
  expect(looked).toHaveLength(5);
  expect(await left('ws_one')).toBe(10);
});

test('a claim reads as much as there are workspaces, however many requests are due', async () => {
  await askFor('ws_many', 20_000, 100);
  for (let n = 10; n < 60; n++) await askFor(`ws_${n}`, 2, n);
  await database.query('analyze report_requests');
  let plan: unknown;
  const query = (async (sql: string, values?: never) => {
    const [row] = await database.query<Record<string, unknown>>(
      `explain (analyze, format json) ${sql}`,
      values,
    );
    plan = row?.['QUERY PLAN'];
    return [];
  }) as Database['query'];
  await report(async () => null, { query });
  const rows = [...JSON.stringify(plan).matchAll(/"Actual Rows":([\d.]+),"Actual Loops":([\d.]+)/g)].map(
    ([, each, loops]) => Number(each) * Number(loops),
  );
  expect(rows.length).toBeGreaterThan(5);
  expect(Math.max(...rows)).toBeLessThan(500);
  const removed = [...JSON.stringify(plan).matchAll(/"Rows Removed by Filter":([\d.]+)/g)];
  expect(Math.max(0, ...removed.map(([, count]) => Number(count)))).toBeLessThan(500);
});
