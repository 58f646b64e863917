import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import pino from 'pino';
import type { LimitRecord } from '../../src/mail/transport/limits/learned.ts';
import { LimitBook } from '../../src/mail/transport/limits/limit-book.ts';
import type { SiteLimits } from '../../src/mail/transport/limits/site-limits.ts';
import { diagnoseLimits } from '../../src/ops/doctor/limits.ts';
import { PostgresDatabase } from '../../src/platform/db/server/postgres.ts';
import { LimitKeeper } from '../../src/sending/emails/transports/learned-limits.ts';
import { eventually } from '../support/eventually.ts';
import { type LimitedSmtp, startLimitedSmtp } from '../support/limited-smtp.ts';
import { startLiveService } from '../support/live-service.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts';

let test_: TestDatabase;
let database: PostgresDatabase;
beforeAll(async () => {
  test_ = await createTestDatabase();
  database = new PostgresDatabase(test_.url);
});
afterAll(async () => {
  await database.close();
  await test_.close();
});

const clock = { now: Date.now, monotonic: () => performance.now() };
const keeperOf = (book: LimitBook, on = database) =>
  new LimitKeeper({ database: on, clock, book, logger: pino({ level: 'silent' }) });
const MX = { transport: 'direct', server: 'mx.test' } as const;

test('what one instance learns the others take over, and so does the next process; doctor tells it', async () => {
  expect((await diagnoseLimits(database)).status).toBe('skipped');
  const [one, other] = [new LimitBook(clock), new LimitBook(clock)];
  const [keeper, others] = [keeperOf(one), keeperOf(other)];
  await keeper.start();
  await others.start();
  one.of(MX).sessionSpent(100);
  one.of({ transport: 'smtp', server: 'relay.test:587' }).refusedConnection(5);
  await keeper.save();
  await others.load();
  expect(other.of(MX).mailsPerSession(1_000)).toBe(100);
  await Promise.all([keeper.stop(), others.stop()]);

  const next = new LimitBook(clock);
  await keeperOf(next).load();
  expect(next.of({ transport: 'smtp', server: 'relay.test:587' }).connectionsOf(20)).toBe(5);
  expect(await diagnoseLimits(database)).toMatchObject({
    status: 'fine',
    detail: expect.stringContaining(
      'relay.test:587 takes 5 connections at once; mx.test takes 100 mails a session.',
    ),
  });
});

test('what could not be stored is stored later; what was not shown for a week is forgotten', async () => {
  const book = new LimitBook(clock);
  const away = { ...database, query: () => Promise.reject(new Error('away')) } as unknown as PostgresDatabase;
  book.of({ transport: 'direct', server: 'late.test' }).sessionSpent(3);
  await keeperOf(book, away).save();
  await database.query(
    `update learned_limits set changed_at = clock_timestamp() - interval '8 days' where server = 'mx.test'`,
  );
  await keeperOf(book).save();
  const rows = await database.query<{ server: string }>('select server from learned_limits order by server');
  expect(rows.map(({ server }) => server)).toEqual(['late.test', 'relay.test:587']);
});

describe('two instances that learn of one server', () => {
  const server = { transport: 'direct', server: 'shared.test' } as const;
  const INSTANCES = ['a', 'b'] as const;
  type Act = (sites: Readonly<Record<(typeof INSTANCES)[number], SiteLimits>>) => void;
  /** Each is a second after the one before it. */
  const FOUND: Readonly<Record<string, Act>> = {
    'a: 100 mails a session': ({ a }) => a.sessionSpent(100),
    'b: 5 connections': ({ b }) => b.refusedConnection(5),
    'b: mails a session have no limit any more': ({ b }) => b.carriedAfter(100),
    'a: 3 connections': ({ a }) => a.refusedConnection(3),
  };
  const SYNCS = ['a saves', 'a loads', 'b saves', 'b loads'] as const;

  /** All orders of the steps. */
  const ordersOf = <Item>(items: readonly Item[]): readonly (readonly Item[])[] =>
    items.length === 0
      ? [[]]
      : items.flatMap((item, at) =>
          ordersOf(items.toSpliced(at, 1)).map((rest): readonly Item[] => [item, ...rest]),
        );

  test('keep all that either has found, in whatever order they store and read it', async () => {
    for (const order of ordersOf(SYNCS)) {
      await database.query('delete from learned_limits');
      let now = Date.now();
      const own = { now: () => now, monotonic: () => performance.now() };
      const books = { a: new LimitBook(own), b: new LimitBook(own) };
      const keepers = { a: keeperOf(books.a), b: keeperOf(books.b) };
      const sites = { a: books.a.of(server), b: books.b.of(server) };
      const sync = async (step: (typeof SYNCS)[number]) => {
        const keeper = keepers[step[0] as 'a' | 'b'];
        await (step.endsWith('saves') ? keeper.save() : keeper.load());
      };
      for (const found of Object.values(FOUND)) {
        now += 1_000;
        found(sites);
        for (const step of order) await sync(step);
      }
      // Both read the last one that was written.
      for (const step of SYNCS) await sync(step);
      const stored = await database.query<{ limits: LimitRecord }>('select limits from learned_limits');
      expect(stored).toHaveLength(1);
      for (const record of [stored[0]?.limits, sites.a.record, sites.b.record]) {
        expect(record?.connections).toMatchObject({ value: 3, at: now });
        expect(record?.mailsPerSession).toMatchObject({ value: null, at: now - 1_000 });
      }
    }
  });

  test('come to the same where both have found out something at the same moment', async () => {
    const now = Date.now();
    for (const [one, other, kept] of [
      [9, 4, 4],
      [null, 4, 4],
      [null, null, null],
    ] as const)
      for (const values of [
        [one, other],
        [other, one],
      ]) {
        await database.query('delete from learned_limits');
        const books = values.map((value) => {
          const book = new LimitBook(clock);
          const finding = value === null ? { value, at: now } : { value, at: now, holdMs: 60_000 };
          book.adopt({ ...server, limits: { mailsPerSession: finding } });
          // Something else has changed, so that it is stored.
          book.of(server).refusedRecipient(10);
          return book;
        });
        for (const book of books) await keeperOf(book).save();
        for (const book of books) await keeperOf(book).load();
        const [stored] = await database.query<{ limits: LimitRecord }>('select limits from learned_limits');
        expect(stored?.limits.mailsPerSession?.value).toBe(kept);
        for (const book of books) expect(book.of(server).record.mailsPerSession?.value).toBe(kept);
      }
  });
});

/** A service whose relay has limits, over its own settings, so that what it learns is stored and told. */
const serviceWith = (relay: LimitedSmtp) =>
  startLiveService({
    environment: { TRANSPORT: 'capture,smtp', SMTP_URL: `smtp://127.0.0.1:${relay.port}?tls=none` },
  });

test('a burst through a relay with both limits is put off for none, and each arrives once', async () => {
  await using relay = await startLimitedSmtp({
    connections: {
      most: 5,
      refusal: { at: 'connect', how: 'greeting', reply: '421 Too many concurrent connections' },
    },
    mailsPerSession: { most: 4, refusal: { at: 'mail', reply: '452 4.5.3 Too many messages sent' } },
    takesMs: 2,
  });
  await using live = await serviceWith(relay);
  const changed = await live.live.patch(`/v1/domains/${live.domainId}`, { provider: 'smtp' });
  expect(changed.status).toBe(200);
  let asked = 0;
  /**
   * Sends so many, none of which ends before as many sessions are open as will be: a slow machine would need
   * fewer of them.
   */
  const burst = async (count: number): Promise<readonly string[]> => {
    const gate = Promise.withResolvers<void>();
    relay.limits = { ...relay.limits, holds: gate.promise };
    const ids = await Promise.all(
      Array.from({ length: count }, () => live.send({ to: `r${asked++}@receiver.example` })),
    );
    let before = Number.NaN;
    await eventually(
      'no further session is tried',
      () => {
        const tried = relay.open + relay.refused;
        const isStill = tried > 0 && tried === before;
        before = tried;
        return isStill || undefined;
      },
      { everyMs: 50 },
    );
    const { holds: _, ...limits } = relay.limits;
    relay.limits = limits;
    gate.resolve();
    return ids;
  };
  const ids = await burst(60);
  await eventually('all have arrived', () => (relay.taken.length >= ids.length ? true : undefined));
  expect(new Set(relay.taken).size).toBe(ids.length);
  expect(relay.taken).toHaveLength(ids.length);
  for (const id of ids) {
    await live.until(id, ({ status }) => status === 'sent');
    const { data } = (await live.live.get(`/v1/emails/${id}/explain`)).body;
    expect(data.evidence.filter(({ text }: { text: string }) => text.includes('put off'))).toEqual([]);
  }
  // A session that the relay had not ended yet counted as well, so that four are learned at first: further
  // mail meets the limits again.
  await eventually('the limits are stored', async () => {
    const [row] = await live.service.database.query<{ limits: Record<string, { value: number }> }>(
      'select limits from learned_limits',
    );
    if (row?.limits.connections?.value === 5 && row.limits.mailsPerSession?.value === 4) return true;
    await burst(10);
    return undefined;
  });
});
