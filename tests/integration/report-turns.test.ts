import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test';
import pino from 'pino';
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

/** Has a workspace ask for reports on that many emails, so many seconds ago. */
const askFor = (workspaceId: string, count: number, ago: number) =>
  database.query(
    `insert into report_requests (workspace_id, email_id, recipient, asked_at, next_at)
    select $1, $1 || n, 0, at, at from generate_series(1, $2::integer) n,
      lateral (select $3::text::timestamptz - $4::integer * interval '1 second' as at) a`,
    [workspaceId, count, new Date(NOW).toISOString(), ago],
  );

/** A look at an email, which is gone. */
type Look = (email: OwnedId) => Promise<null>;

/** Sends what is due, and looks at emails so. */
async function report(look: Look, clock = { now: () => NOW, monotonic: () => 0 }): Promise<void> {
  const parts: Partial<ReporterParts> = {
    ...{ database, clock, logger: pino({ level: 'silent' }) },
    reader: { message: look } as Partial<ReporterParts['reader']> as ReporterParts['reader'],
  };
  await reportSender(parts as ReporterParts).run();
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
  ).toEqual([...['ws_one', 'ws_two', 'ws_two']]);
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
  await report(look, { now: () => NOW, monotonic: () => monotonic });
  // Five of each were claimed together. One look took the time of all five, and four are looked at later.
  expect(order.slice(0, 6).toSorted()).toEqual([...Array(5).fill('ws_one'), 'ws_slow']);
  expect([await left('ws_slow'), await left('ws_one')]).toEqual([4, 0]);
});
