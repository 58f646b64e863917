import { describe, expect, test } from 'bun:test';
import type { Database } from '../../src/db/database.ts';
import { mintId } from '../../src/db/ids.ts';
import { migrate } from '../../src/db/migrate.ts';
import { openDatabase } from '../../src/db/open.ts';
import { ensurePartitions, partitionedDays } from '../../src/db/partitions.ts';
import { liveDataPruner } from '../../src/modules/emails/retention/live-data-pruner.ts';
import { testDataPruner } from '../../src/modules/emails/retention/test-data-pruner.ts';
import { createTestDatabase } from '../support/postgres.ts';

const DAY = 86_400_000;
const NOW = Date.UTC(2026, 10, 20, 12);

interface Given {
  readonly createdAt: number;
  readonly livemode: boolean;
  readonly state?: string;
  readonly sentAt?: number | null;
}

/** Writes an email of the past, with a message, an event, an attempt that came to nothing and a journal row. */
async function given(
  database: Database,
  { createdAt, livemode, state = 'delivered', sentAt = createdAt }: Given,
) {
  const id = mintId('em', createdAt);
  const sent = sentAt === null ? null : new Date(sentAt).toISOString();
  const wakeAt = state === 'scheduled' ? new Date(NOW + DAY).toISOString() : null;
  await database.query(
    `insert into emails (id, workspace_id, livemode, state, context, revision, machine_version,
       wake_at, recipients, recipient_keys, sent_at)
     values ($1, 'ws_1', $2::boolean, $3, '{}', 1, 1, $4::text::timestamptz, '{a@b.co}', '{a@b.co}', $5::text::timestamptz)`,
    [id, livemode, state, wakeAt, sent],
  );
  await database.query(
    `insert into email_messages (id, workspace_id, livemode, sender_key, subject, tags, envelope, content)
     values ($1, 'ws_1', $2::boolean, 'x@y.co', 's', '{}', '{}', '{}')`,
    [id, livemode],
  );
  await database.query(
    `insert into email_events (email_id, id, workspace_id, livemode, type, recipient, occurred_at, data)
     values ($1, $2, 'ws_1', $3::boolean, 'sent', 'a@b.co', now(), '{}')`,
    [id, mintId('evt', createdAt), livemode],
  );
  await database.query(
    `insert into email_attempts (email_id, attempt, recipient, outcome, at, data)
     values ($1, 1, 0, 'deferred', now(), '{}')`,
    [id],
  );
  await database.query(
    `insert into email_journal (actor_id, revision, commit_tag, steps) values ($1, 1, 1, '[]')`,
    [id],
  );
  return id;
}

/** The ids that every table still knows; fails when the tables disagree. */
async function left(database: Database): Promise<string[]> {
  const of = async (table: string, column: string) =>
    (await database.query<{ id: string }>(`select ${column} as id from ${table} order by 1`)).map(
      ({ id }) => id,
    );
  const actors = await of('emails', 'id');
  expect(await of('email_messages', 'id')).toEqual(actors);
  expect(await of('email_events', 'email_id')).toEqual(actors);
  expect(await of('email_attempts', 'email_id')).toEqual(actors);
  expect(await of('email_journal', 'actor_id')).toEqual(actors);
  return actors;
}

async function opened(kind: 'embedded' | 'postgres') {
  const server = kind === 'postgres' ? await createTestDatabase() : null;
  const database = await openDatabase({ url: server?.url ?? null, dataDir: null });
  await migrate(database);
  await database.query(
    `insert into workspaces (id, name, plan, created_at) values ('ws_1', 'W', 'free', now())`,
  );
  return {
    database,
    async [Symbol.asyncDispose]() {
      await database.close();
      await server?.close();
    },
  };
}

describe.each(['embedded', 'postgres'] as const)('retention on %s', (kind) => {
  const deps = (database: Database) =>
    ({ database, clock: { now: () => NOW, monotonic: () => 0 } }) as Parameters<typeof testDataPruner>[0];

  test('test data goes seven days after its creation, and nothing else does', async () => {
    await using world = await opened(kind);
    const { database } = world;
    await ensurePartitions(database, NOW - 7 * DAY);
    await given(database, { createdAt: NOW - 7 * DAY - 1_000, livemode: false });
    await given(database, {
      createdAt: NOW - 7 * DAY - 2_000,
      livemode: false,
      state: 'scheduled',
      sentAt: null,
    });
    const young = await given(database, { createdAt: NOW - 7 * DAY + 1_000, livemode: false });
    const live = await given(database, { createdAt: NOW - 8 * DAY, livemode: true });
    await testDataPruner(deps(database)).run();
    expect(await left(database)).toEqual([live, young].sort());
  });

  test('live data goes 90 days after it was sent, with the partition of its day', async () => {
    await using world = await opened(kind);
    const { database } = world;
    const old = NOW - 92 * DAY;
    await ensurePartitions(database, old);
    await given(database, { createdAt: old, livemode: true });
    await given(database, { createdAt: old, livemode: true, state: 'failed', sentAt: null });
    const sentLater = await given(database, { createdAt: old, livemode: true, sentAt: old + 30 * DAY });
    const stillScheduled = await given(database, {
      createdAt: old,
      livemode: true,
      state: 'scheduled',
      sentAt: null,
    });
    const young = await given(database, { createdAt: NOW - 89 * DAY, livemode: true });
    await liveDataPruner(deps(database)).run();
    expect(await left(database)).toEqual([sentLater, stillScheduled, young].sort());
    expect((await partitionedDays(database)).every((day) => day > NOW - 91 * DAY - DAY)).toBe(true);
    // What was moved out of a retired day goes when its own time has come, and so does the young one.
    const later = { now: () => NOW + 29 * DAY, monotonic: () => 0 };
    await liveDataPruner({ ...deps(database), clock: later }).run();
    expect(await left(database)).toEqual([stillScheduled]);
  });
});
