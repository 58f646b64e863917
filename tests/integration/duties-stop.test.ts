import { afterAll, beforeAll, describe, expect, jest, test } from 'bun:test';
import { draftPruner } from '../../src/accounts/members/editor-drafts.ts';
import { usageAccountant } from '../../src/accounts/usage/usage-accountant.ts';
import type { Duty } from '../../src/engine/duties/duty.ts';
import { historyPruner } from '../../src/engine/duties/history-pruner.ts';
import { lastRunKeeper, readLastRun } from '../../src/engine/duties/last-run.ts';
import { replyPruner } from '../../src/engine/duties/reply-pruner.ts';
import { KEPT_WRITES, type RetentionDeps } from '../../src/engine/duties/retention.ts';
import { startDuties } from '../../src/engine/duties/schedule.ts';
import { loadConfig } from '../../src/platform/config/config.ts';
import { LONGEST_RETENTION } from '../../src/platform/config/settings/settings.ts';
import type { Database, Parameter } from '../../src/platform/db/database.ts';
import { lowestIdAt } from '../../src/platform/db/ids.ts';
import { openDatabase } from '../../src/platform/db/open.ts';
import { ensurePartitions, partitionedDays } from '../../src/platform/db/partitions.ts';
import { createLogger } from '../../src/platform/telemetry/logger.ts';
import { systemClock } from '../../src/platform/time/clock.ts';
import { capturedPruner } from '../../src/sending/captured/captured-pruner.ts';
import { domainKind } from '../../src/sending/domains/kind.ts';
import { liveDataPruner } from '../../src/sending/emails/retention/live-data-pruner.ts';
import { messageIdPruner } from '../../src/sending/emails/retention/message-id-pruner.ts';
import { testDataPruner } from '../../src/sending/emails/retention/test-data-pruner.ts';
import { webhookPruner } from '../../src/sending/webhooks/deliveries/delivery-pruner.ts';
import { openService } from '../../src/service.ts';
import { countOf, postgresStore, type Store } from '../support/engine.ts';
import { eventually } from '../support/eventually.ts';
import { createTestDatabase } from '../support/postgres.ts';
import { BIRTH } from '../support/stored-email.ts';
import { deliveries, idsFrom, stopperOver } from '../support/waiting-deliveries.ts';

const DAY = 86_400_000;
const NOW = Date.UTC(2026, 10, 20, 12);
const OLD = NOW - 100 * DAY;
const logger = createLogger({ level: 'silent', pretty: false });

/** No duty here says how to look for its work. */
const PARTS = {
  logger,
  database: { kind: 'postgres' as const, worked: 0, query: () => Promise.reject(new Error('asked')) },
  isAlone: () => true,
};

/** A duty that runs for as long as it is let. */
function endless(isOver: (stop: AbortSignal | undefined) => boolean) {
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
  let hasEnded = false;
  const duty: Duty = {
    name: 'endless',
    pattern: '* * * * * *',
    async run(stop) {
      begin();
      while (!isOver(stop)) await new Promise((resolve) => setImmediate(resolve));
      hasEnded = true;
    },
  };
  return { duty, begun, hasEnded: () => hasEnded };
}

test('a stop asks a duty that never ends by itself to end, and waits for it', async () => {
  const { duty, begun, hasEnded } = endless((stop) => stop?.aborted ?? false);
  const schedule = startDuties([duty], { ...PARTS, clock: systemClock });
  await begun;
  await schedule.stop();
  expect(hasEnded()).toBe(true);
});

test('a duty that is wanted does not wait for its time', async () => {
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
  let isWanted = false;
  // The first of a month at midnight: no test runs until then.
  const duty: Duty = {
    name: 'monthly',
    pattern: '0 0 0 1 * *',
    isWanted: () => isWanted,
    async run() {
      isWanted = false;
      begin();
    },
  };
  const schedule = startDuties([duty], { ...PARTS, clock: { ...systemClock, now: () => NOW } });
  isWanted = true;
  await begun;
  await schedule.stop();
});

test('duties that say how are run only when there is work, for which one statement asks', async () => {
  let passed = 0;
  const clock = { now: () => NOW + passed, monotonic: () => passed };
  const runs: string[] = [];
  const duty = (name: string, rest: Partial<Duty> = {}): Duty => ({
    name,
    pattern: '* * * * * *',
    run: async () => void runs.push(name),
    ...rest,
  });
  const asked: string[] = [];
  let work: Record<string, boolean> | null = {};
  const database = {
    query: async (text: string, [, which]: readonly string[]) => {
      expect(text).toContain('a < $1::text::timestamptz');
      asked.push(String(which));
      if (!work) throw new Error('It is away.');
      return [work];
    },
  };
  let isWanted = false;
  jest.useFakeTimers();
  try {
    const duties = [
      duty('always'),
      duty('first', { asks: (now) => `a < ${now}` }),
      duty('second', { asks: () => 'b', isWanted: () => isWanted }),
    ];
    const schedule = startDuties(duties, {
      logger,
      clock,
      database: database as never,
      isAlone: () => false,
    });
    const tick = async (): Promise<readonly string[]> => {
      runs.length = 0;
      asked.length = 0;
      passed += 1_000;
      jest.advanceTimersByTime(1_000);
      for (let turn = 0; turn < 5; turn++) await Promise.resolve();
      return [...runs];
    };
    expect(await tick()).toEqual(['always']);
    expect(asked).toHaveLength(1);
    expect(asked[0]).toBe('yy');
    work = { 1: true };
    expect(await tick()).toEqual(['always', 'second']);
    work = null;
    expect(await tick(), 'where the look fails each looks by itself').toEqual(['always', 'first', 'second']);
    work = { 0: true };
    expect(await tick()).toEqual(['always', 'first']);
    isWanted = true;
    expect(await tick(), 'what is wanted is not asked for').toEqual(['always', 'second', 'first']);
    expect(asked[0]).toBe('yn');
    await schedule.stop();
  } finally {
    jest.useRealTimers();
  }
});

test('an instance that is alone looks for work less often after it found none', async () => {
  let passed = 0;
  const clock = { now: () => NOW + passed, monotonic: () => passed };
  let [looks, hasWork] = [0, false];
  const query = async () => [{ 0: ++looks > 0 && hasWork }];
  const database = { kind: 'postgres', worked: 0, query };
  jest.useFakeTimers();
  try {
    const duty: Duty = { name: 'asks', pattern: '* * * * * *', asks: () => 'a', run: async () => {} };
    const schedule = startDuties([duty], { logger, clock, database: database as never, isAlone: () => true });
    const looksIn = async (seconds: number, works = true): Promise<number> => {
      looks = 0;
      for (let second = 0; second < seconds; second++) {
        passed += 1_000;
        if (works) database.worked++;
        jest.advanceTimersByTime(1_000);
        for (let turn = 0; turn < 5; turn++) await Promise.resolve();
      }
      return looks;
    };
    expect(await looksIn(30), 'it works, and may have begun something').toBe(10);
    await looksIn(10, false);
    expect(await looksIn(60, false), 'nothing but time can have made work').toBe(6);
    hasWork = true;
    await looksIn(3);
    expect(await looksIn(30)).toBe(30);
    await schedule.stop();
  } finally {
    jest.useRealTimers();
  }
});

test('nothing is removed for its age in the first hour of a start by whose clock nothing ran for a day, nor is it remembered', async () => {
  await using made = await createTestDatabase();
  const database = await openDatabase({ url: made.url, dataDir: null });
  const began = (stoppedMs: number, lastRun: number | null) => {
    let passed = 0;
    const clock = { now: () => NOW + stoppedMs + passed, monotonic: () => passed };
    const keeper = lastRunKeeper({ database, clock });
    let runs = 0;
    const counted: Duty = { ...keeper, pattern: '* * * * * *', run: async () => void runs++ };
    const schedule = startDuties([counted], { ...PARTS, clock, lastRun });
    return {
      keeper,
      schedule,
      tick: async (ms: number): Promise<number> => {
        passed += ms;
        jest.advanceTimersByTime(1_000);
        await Promise.resolve();
        await Promise.resolve();
        return runs;
      },
    };
  };
  expect(await readLastRun(database)).toBeNull();
  jest.useFakeTimers();
  try {
    const first = began(0, null);
    expect(await first.tick(1_000)).toBe(1);
    await first.keeper.run();
    await first.schedule.stop();
    const known = await readLastRun(database);
    expect(known).toBe(NOW + 1_000);

    const soon = began(DAY, known);
    expect(await soon.tick(1_000)).toBe(1);
    await soon.schedule.stop();
    const wrong = began(91 * DAY, known);
    expect(await wrong.tick(59 * 60_000)).toBe(0);
    expect(await wrong.tick(2 * 60_000)).toBe(1);
    await wrong.schedule.stop();
  } finally {
    jest.useRealTimers();
    await database.close();
  }
});

test('nothing is removed for its age within a quarter of an hour of a leap of the clock', async () => {
  let [passed, set] = [0, 0];
  const clock = { now: () => NOW + passed + set, monotonic: () => passed };
  let runs = 0;
  const count = (name: string, goesByAge: boolean): Duty => ({
    name,
    pattern: '* * * * * *',
    goesByAge,
    run: async () => void runs++,
  });
  jest.useFakeTimers();
  try {
    const schedule = startDuties([count('prunes', true)], { ...PARTS, clock });
    const tick = async (ms: number) => {
      passed += ms;
      jest.advanceTimersByTime(1_000);
      await Promise.resolve();
      await Promise.resolve();
    };
    await tick(1_000);
    expect(runs).toBe(1);
    set = 91 * 86_400_000;
    await tick(1_000);
    set = 0;
    for (let minute = 0; minute < 14; minute++) await tick(60_000);
    expect(runs).toBe(1);
    await tick(120_000);
    expect(runs).toBe(2);
    await schedule.stop();
  } finally {
    jest.useRealTimers();
  }
});

test('a service that stops has its engine stop beside its duties, whatever those do', async () => {
  await using made = await createTestDatabase();
  const loaded = loadConfig({ HOST: '127.0.0.1', SECRET_KEY: 's'.repeat(32), DATABASE_URL: made.url });
  if ('problems' in loaded) throw new Error(loaded.problems.join('\n'));
  let mayEnd = false;
  const { duty, begun, hasEnded } = endless(() => mayEnd);
  const service = await openService({ config: loaded.config, logger, duties: [duty] });
  await service.start();
  await begun;
  const stopped = service.stop();
  try {
    await eventually('the clock has stopped', async () =>
      service.engine.scheduler.status === 'stopped' ? true : undefined,
    );
    expect(hasEnded()).toBe(false);
  } finally {
    mayEnd = true;
    await stopped;
  }
  expect(hasEnded()).toBe(true);
});

const WORKSPACE = `insert into workspaces (id, name, plan, created_at) values ('ws_1', 'W', 'free', now())
  on conflict do nothing;`;
interface Case {
  readonly duty: (deps: RetentionDeps) => Duty;
  /** More than two batches of what the duty does away with. */
  readonly fill: string;
  /** The work that is left. */
  readonly left: string;
}

/** Every duty that works in batches. */
const CASES: Readonly<Record<string, Case>> = {
  capturedPruner: {
    duty: capturedPruner,
    fill: `insert into captured select ${idsFrom(lowestIdAt('cap', OLD))}, 'ws_1', 'em_' || g, 'a@b.co', '', '' from generate_series(1, 2500) g`,
    left: 'captured',
  },
  replyPruner: {
    duty: replyPruner,
    fill: `insert into idempotency_keys select 'ws_1', true, g::text, 'f', 200, '{}', to_timestamp(0) from generate_series(1, 12000) g`,
    left: 'idempotency_keys',
  },
  usageAccountant: {
    duty: usageAccountant,
    fill: `insert into usage_entries select 'ws_1', true, '2026-11', 1 from generate_series(1, 25000)`,
    left: 'usage_entries',
  },
  testDataPruner: {
    duty: testDataPruner,
    fill: `insert into emails (id, workspace_id, livemode, state, ${BIRTH.columns})
      select ${idsFrom(lowestIdAt('em', OLD))}, 'ws_1', false, 'sending', ${BIRTH.values} from generate_series(1, 2500) g`,
    left: 'emails where not livemode',
  },
  webhookPruner: {
    duty: webhookPruner,
    fill: `insert into webhook_endpoints values ('wh_old', 'ws_1', true, 'active', '{}', 1, 1, null, null, '{}');
      ${deliveries('wh_old', OLD, 2_500, 'null')}`,
    left: `webhook_deliveries where webhook_id = 'wh_old'`,
  },
  deliveryStopper: {
    duty: ({ database, clock }) => stopperOver(database, clock),
    fill: `insert into webhook_endpoints values ('wh_gone', 'ws_1', true, 'deleted', '{}', 1, 1, null, null, '{}');
      ${deliveries('wh_gone', NOW, 12_000, `now() + interval '1 hour'`)}`,
    left: `webhook_deliveries where webhook_id = 'wh_gone' and wake_at is not null`,
  },
  historyPruner: {
    duty: (deps) => historyPruner(deps, [domainKind]),
    fill: `insert into domains values ('dom_1', 'ws_1', true, 'pending', '{}', ${KEPT_WRITES + 2_500}, 1, null, null, 'a.example', 'r', null);
      insert into domain_journal select 'dom_1', g, 1, '[]' from generate_series(1, ${KEPT_WRITES + 2_500}) g`,
    left: `domain_journal where revision <= 2500`,
  },
  liveDataPruner: {
    duty: liveDataPruner,
    // So many of the day are kept that it cannot be dropped: the others are deleted one by one.
    fill: `insert into emails (id, workspace_id, livemode, state, ${BIRTH.columns})
      select ${idsFrom(lowestIdAt('em', OLD))}, 'ws_1', true, case when g <= 2500 then 'cancelled' else 'scheduled' end,
        ${BIRTH.values} from generate_series(1, 12501) g`,
    left: `emails where livemode and state = 'cancelled'`,
  },
  messageIdPruner: {
    duty: messageIdPruner,
    fill: `insert into sent_message_ids
      select 'ws_1', true, md5(g::text)::uuid, 'em', to_timestamp(${NOW} / 1000.0 + (g - 2500) * 86400)
      from generate_series(1, 2600) g`,
    left: `sent_message_ids where until <= to_timestamp(${NOW} / 1000.0)`,
  },
  draftPruner: {
    duty: draftPruner,
    fill: `insert into accounts (id, email, email_key, name, created_at) values ('acc_1', 'a@b.co', 'a@b.co', 'Ada', now());
      insert into editor_drafts
      select 'ws_1', 'acc_1', g::text, 'live/flows/flw_1', 'x', '{}', '{}', to_timestamp(${OLD} / 1000.0) from generate_series(1, 1200) g`,
    left: 'editor_drafts',
  },
};

/** The database as a duty sees it, which asks the duty to stop once it has answered the second change. */
function interrupted(database: Database) {
  const stop = new AbortController();
  let changes = 0;
  const query = async <Row extends object>(text: string, parameters?: readonly Parameter[]) => {
    const rows = await database.query<Row>(text, parameters);
    if (/\b(delete|update)\b/.test(text) && !text.startsWith('insert into retention') && ++changes === 2)
      stop.abort();
    return rows;
  };
  const seen = { query, script: (text: string) => database.script(text) } as unknown as Database;
  return { database: seen, signal: stop.signal };
}

describe('a duty asked to stop ends between two batches and resumes next time', () => {
  let store: Store;
  beforeAll(async () => {
    store = await postgresStore();
    await store.database.script(WORKSPACE);
    await ensurePartitions(store.database, OLD);
  });
  afterAll(() => store[Symbol.asyncDispose]());

  for (const [name, { duty, fill, left }] of Object.entries(CASES))
    test(name, async () => {
      const { database } = store;
      const clock = { now: () => NOW, monotonic: () => 0 };
      await database.script(fill);
      const given = await countOf(database, left);
      const days = await partitionedDays(database);
      const cut = interrupted(database);
      await duty({ clock, database: cut.database, config: LONGEST_RETENTION }).run(cut.signal);
      expect(cut.signal.aborted).toBe(true);
      const remaining = await countOf(database, left);
      expect(remaining).toBeGreaterThan(0);
      expect(remaining).toBeLessThan(given);
      expect(await partitionedDays(database)).toEqual(days);
      await duty({ clock, database, config: LONGEST_RETENTION }).run();
      expect(await countOf(database, left)).toBe(0);
    });
});
