import { describe, expect, test } from 'bun:test';
import { readRemoved } from '../../src/engine/audit/session.ts';
import type { RetentionDays, RetentionDeps } from '../../src/engine/duties/retention.ts';
import { LONGEST_RETENTION } from '../../src/platform/config/settings/settings.ts';
import type { Database } from '../../src/platform/db/database.ts';
import { mintId } from '../../src/platform/db/ids.ts';
import { ensurePartitions, partitionedDays, partitionName } from '../../src/platform/db/partitions.ts';
import { PostgresDatabase } from '../../src/platform/db/server/postgres.ts';
import { liveDataPruner } from '../../src/sending/emails/retention/live-data-pruner.ts';
import { testDataPruner } from '../../src/sending/emails/retention/test-data-pruner.ts';
import { embeddedDatabase } from '../support/embedded.ts';
import { createTestDatabase } from '../support/postgres.ts';
import { BIRTH } from '../support/stored-email.ts';

const DAY = 86_400_000;
const NOW = Date.UTC(2026, 10, 20, 12);

interface Given {
  readonly createdAt: number;
  readonly livemode: boolean;
  readonly state?: string;
  readonly sentAt?: number | null;
}

/** Writes an email of the past, and a turn of it with an event and an attempt that came to nothing. */
async function given(
  database: Database,
  { createdAt, livemode, state = 'delivered', sentAt = createdAt }: Given,
) {
  const id = mintId('em', createdAt);
  const sent = sentAt === null ? null : new Date(sentAt).toISOString();
  const wakeAt = state === 'scheduled' ? new Date(NOW + DAY).toISOString() : null;
  await database.query(
    `insert into emails (id, workspace_id, livemode, state, ${BIRTH.columns})
     values ($1, 'ws_1', $2::boolean, 'sending', ${BIRTH.values})`,
    [id, livemode],
  );
  const event = {
    id: mintId('evt', createdAt),
    type: 'sent',
    recipient: 0,
    occurred_at: new Date(),
    data: {},
  };
  const note = { attempt: 1, recipient: 0, outcome: 'deferred', at: new Date(), data: {} };
  await database.query(
    `insert into email_turns (email_id, revision, workspace_id, livemode, state, context, machine_version, commit_tag, steps, at,
       sent_at, recorded, noted, position)
     values ($1, 2, 'ws_1', $2::boolean, $3, '{}', 1, 0, '[]', now(), $4::text::timestamptz, $5::text::json, $6::text::json,
       event_position())`,
    [id, livemode, state, sent, JSON.stringify([event]), JSON.stringify([note])],
  );
  if (wakeAt !== null)
    await database.query(
      `insert into email_due (id, workspace_id, livemode, state, wake_at)
       values ($1, 'ws_1', $2::boolean, $3, $4::text::timestamptz)`,
      [id, livemode, state, wakeAt],
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
  expect(await of('email_turns', 'email_id')).toEqual(actors);
  expect(await of('email_events', 'email_id')).toEqual(actors);
  expect(await of('email_attempts', 'email_id')).toEqual(actors);
  return actors;
}

async function opened(kind: 'embedded' | 'postgres') {
  const server = kind === 'postgres' ? await createTestDatabase() : null;
  const database = server ? new PostgresDatabase(server.url) : await embeddedDatabase();
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
  const deps = (database: Database, config: RetentionDays = LONGEST_RETENTION): RetentionDeps => ({
    database,
    config,
    clock: { now: () => NOW, monotonic: () => 0 },
  });

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
    // An email that was moved out of a retired day is removed at its own time, and so is the young one.
    const later = { now: () => NOW + 29 * DAY, monotonic: () => 0 };
    await liveDataPruner({ ...deps(database), clock: later }).run();
    expect(await left(database)).toEqual([stillScheduled]);
  });

  test('an email keeps its turns when the removal of its day ends between the two tables', async () => {
    await using world = await opened(kind);
    const { database } = world;
    const createdAt = NOW - 92 * DAY;
    await ensurePartitions(database, createdAt);
    await given(database, { createdAt, livemode: true });
    const sentLater = await given(database, { createdAt, livemode: true, sentAt: createdAt + 30 * DAY });
    const scheduled = { createdAt, livemode: true, state: 'scheduled', sentAt: null };
    const stillScheduled = await given(database, scheduled);
    const stop = new AbortController();
    const script = async (text: string) => {
      await database.script(text);
      stop.abort();
    };
    const cut = { query: database.query.bind(database), script } as unknown as Database;
    await liveDataPruner(deps(cut)).run(stop.signal);
    expect(stop.signal.aborted).toBe(true);
    expect(await database.query('select id, state from emails_now order by state')).toEqual([
      { id: sentLater, state: 'delivered' },
      { id: stillScheduled, state: 'scheduled' },
    ]);
    // One that has expired meanwhile goes with its turns.
    const later = { now: () => NOW + 29 * DAY, monotonic: () => 0 };
    await liveDataPruner({ ...deps(database), clock: later }).run();
    expect(await left(database)).toEqual([stillScheduled]);
    expect(await partitionedDays(database)).not.toContain(createdAt - (createdAt % DAY));
  });

  test('emails of a day without a partition go with their turns, which have one', async () => {
    await using world = await opened(kind);
    const { database } = world;
    const createdAt = NOW - 92 * DAY;
    await ensurePartitions(database, createdAt);
    await database.script(`drop table ${partitionName('emails', createdAt)}`);
    await given(database, { createdAt, livemode: true });
    const young = await given(database, { createdAt, livemode: true, sentAt: NOW - DAY });
    await liveDataPruner(deps(database)).run();
    expect(await left(database)).toEqual([young]);
    expect(await partitionedDays(database)).not.toContain(createdAt - (createdAt % DAY));
  });

  test('test data that is kept longer than live data stays behind it, on its day', async () => {
    await using world = await opened(kind);
    const { database } = world;
    const config: RetentionDays = { retentionTestDays: 7, retentionLiveDays: 1 };
    const dayBefore = NOW - 2 * DAY;
    await ensurePartitions(database, dayBefore);
    const scheduled = { createdAt: dayBefore, state: 'scheduled', sentAt: null };
    const simulated = [
      await given(database, { createdAt: dayBefore, livemode: false }),
      await given(database, { ...scheduled, livemode: false }),
    ];
    await given(database, { createdAt: dayBefore, livemode: true });
    const liveScheduled = await given(database, { ...scheduled, livemode: true });
    const run = async (now: number) => {
      const at = { ...deps(database, config), clock: { now: () => now, monotonic: () => 0 } };
      await testDataPruner(at).run();
      await liveDataPruner(at).run();
      return left(database);
    };
    expect(await run(NOW)).toEqual([...simulated, liveScheduled].sort());
    expect(await run(NOW + 5 * DAY - 1_000)).toEqual([...simulated, liveScheduled].sort());
    expect(await run(NOW + 5 * DAY + 1_000)).toEqual([liveScheduled]);
    // Once its test data is of age as well, the day goes as a whole.
    expect(await partitionedDays(database)).toContain(dayBefore - (dayBefore % DAY));
    expect(await run(NOW + 6 * DAY)).toEqual([liveScheduled]);
    expect(await partitionedDays(database)).not.toContain(dayBefore - (dayBefore % DAY));
  });

  test('either goes earlier where the configuration says so, and longer settings bring nothing back', async () => {
    await using world = await opened(kind);
    const { database } = world;
    const old = NOW - 32 * DAY;
    await ensurePartitions(database, old);
    await given(database, { createdAt: old, livemode: true });
    await given(database, { createdAt: NOW - DAY - 1_000, livemode: false });
    const test = await given(database, { createdAt: NOW - DAY + 1_000, livemode: false });
    const live = await given(database, { createdAt: NOW - 29 * DAY, livemode: true });
    const run = async (config: RetentionDays) => {
      await testDataPruner(deps(database, config)).run();
      await liveDataPruner(deps(database, config)).run();
      expect(await left(database)).toEqual([live, test].sort());
    };
    await run({ retentionTestDays: 1, retentionLiveDays: 30 });
    expect((await partitionedDays(database)).every((day) => day > NOW - 31 * DAY - DAY)).toBe(true);
    await run(LONGEST_RETENTION);
    const session = { query: database.query.bind(database), close: async () => {} };
    expect(await readRemoved(session)).toEqual({ test: NOW - DAY, live: NOW - 30 * DAY });
  });
});
