import { afterAll, beforeAll, expect, test } from 'bun:test';
import pino from 'pino';
import type { OutcomeScript } from '../../machines/email/script.ts';
import type { Engine } from '../../src/engine/engine.ts';
import { mintId } from '../../src/platform/db/ids.ts';
import { SLOW_SIMULATED_SCHEDULE } from '../../src/sending/emails/accept/attempt-schedule.ts';
import { clockedEmails } from '../../src/sending/emails/clocked/clocked-emails.ts';
import { emailPerformer } from '../../src/sending/emails/send/perform.ts';
import { readScript } from '../../src/sending/emails/simulator/read-script.ts';
import {
  SIMULATED_OUTCOMES,
  type SimulatedOutcome,
} from '../../src/sending/emails/simulator/simulated-addresses.ts';
import { ClockMover } from '../../src/sending/test-clocks/mover.ts';
import { pass } from '../../src/sending/test-clocks/passage.ts';
import {
  emailSpawn,
  embeddedStore,
  engineOver,
  ManualClock,
  plainInput,
  type Store,
} from '../support/engine.ts';
import { eventually } from '../support/eventually.ts';

// The life of an email by a test clock, and the same life by a clock that is moved in real steps: whatever
// the one writes the other does.

const BEGIN = Date.UTC(2026, 11, 1, 9);
const DAY_MS = 86_400_000;

let store: Store;
beforeAll(async () => {
  store = await embeddedStore();
});
afterAll(() => store[Symbol.asyncDispose]());

/** Nothing live is sent here. */
const noLive = {
  perform: () => {
    throw new Error('A test email is no live one.');
  },
  room: 0,
  bulkRoom: 0,
  settled: () => {},
  stop: () => {},
  stopped: () => {},
};

interface Life {
  readonly outcome?: SimulatedOutcome;
  /** The record of its sender instead. */
  readonly script?: string;
  readonly afterDays: number;
}

const SCRIPTS = [
  'deferred*2, delivered, opened+5m, bounced+3d',
  'deferred*12, sent, delivered+10d, opened*2+7d, clicked, unsubscribed+1s',
  'bounced+30d',
  'opened*2, complained, bounced-transient+1h',
];

/** Every fate, at once and a month later. */
const LIVES: readonly Life[] = [
  ...SIMULATED_OUTCOMES.filter((name) => name !== 'suppressed').map((outcome) => ({ outcome })),
  ...SCRIPTS.map((script) => ({ script })),
].flatMap((life) => [0, 30].map((afterDays) => ({ ...life, afterDays })));

function scriptOf(text: string): OutcomeScript {
  const script = readScript(text);
  if ('problem' in script) throw new Error(script.problem);
  return script;
}

/** An email that lives by a test clock where one is named. */
const born = ({ outcome = 'delivered', script, afterDays }: Life, testClockId?: string) =>
  emailSpawn(
    plainInput(BEGIN, {
      ...SLOW_SIMULATED_SCHEDULE,
      scheduledAt: afterDays === 0 ? null : BEGIN + afterDays * DAY_MS,
      recipients: [{ simulate: outcome }, { simulate: 'delivered' }],
      ...(testClockId === undefined ? {} : { testClockId }),
      ...(script === undefined ? {} : { script: scriptOf(script) }),
    }),
  );

/** Everything that is known of an email's life, but for its id and those of its events. */
async function written(id: string): Promise<unknown> {
  const { database } = store;
  const [email] = await database.query(
    `select state, context::jsonb - 'testClockId' as context, timers, revision, at, last_event, failure_reason, scheduled_at, sent_at,
       delivered_at from emails_now where id = $1`,
    [id],
  );
  const journal = await database.query(
    'select revision, steps from email_journal where actor_id = $1 order by revision',
    [id],
  );
  const events = await database.query(
    'select type, recipient, occurred_at, data::text as data from email_events where email_id = $1 order by id',
    [id],
  );
  const attempts = await database.query(
    'select attempt, recipient, outcome, at, data::text as data from email_attempts where email_id = $1 order by at, recipient',
    [id],
  );
  return JSON.parse(JSON.stringify({ email, journal, events, attempts }).replaceAll(id, 'em_'));
}

const waking = async (ids: readonly string[]): Promise<readonly { state: string; due: number | null }[]> =>
  store.database.query<{ state: string; due: number | null }>(
    `select state, (select min(t.value::text::float8) from json_each(timers) t) as due from emails_now where id = any($1)`,
    [ids],
  );

/** Moves a clock to each moment at which something is due, and waits for what happens there. */
async function liveInRealSteps(engine: Engine, clock: ManualClock, ids: readonly string[]): Promise<void> {
  for (;;) {
    const rows = await eventually('no attempt is under way', async () => {
      const found = await waking(ids);
      return found.every(({ state }) => state !== 'sending') ? found : undefined;
    });
    const next = Math.min(...rows.map(({ due }) => due ?? Number.POSITIVE_INFINITY));
    if (next === Number.POSITIVE_INFINITY) return;
    clock.time = next;
    await engine.wakeDue();
  }
}

test('by a test clock a month of schedules and three days of retries leave what real time leaves', async () => {
  const clock = new ManualClock(BEGIN);
  const engine = engineOver(store.database, { clock, performer: emailPerformer(clock, noLive) });
  const real = LIVES.map((life) => born(life));
  await Promise.all(real.map((spawn) => engine.spawn('email', spawn)));
  await liveInRealSteps(
    engine,
    clock,
    real.map(({ id }) => id),
  );
  await engine.stop();

  // The machine's own clock, which says nothing of those times.
  const another = engineOver(store.database, { performer: emailPerformer(new ManualClock(0), noLive) });
  const testClock = { id: mintId('clk', BEGIN), workspaceId: 'ws_test' };
  const clocked = LIVES.map((life) => born(life, testClock.id));
  await Promise.all(clocked.map((spawn) => another.spawn('email', spawn)));
  const moments: number[] = [];
  const emails = clockedEmails({ database: store.database, engine: another });
  const hasCome = await pass([emails], testClock, {
    from: BEGIN,
    to: BEGIN + 80 * DAY_MS,
    reached: async (at) => moments.push(at) > 0,
  });
  await another.stop();
  expect(hasCome).toBe(true);
  expect(moments).toEqual(moments.toSorted((a, b) => a - b));
  for (const [index, life] of LIVES.entries()) {
    const [one, other] = [real[index], clocked[index]].map((spawn) => spawn?.id ?? '');
    expect([life, await written(other ?? '')]).toEqual([life, await written(one ?? '')]);
  }
  const expired = LIVES.findIndex(({ outcome, afterDays }) => outcome === 'expired' && afterDays === 30);
  const { email } = (await written(clocked[expired]?.id ?? '')) as {
    email: { context: { attempt: number; at: number } };
  };
  expect(email.context.attempt).toBeGreaterThan(20);
  expect(email.context.at).toBeGreaterThanOrEqual(BEGIN + 33 * DAY_MS);
});

test('what lives by a test clock is never due by the real one', async () => {
  const engine = engineOver(store.database, { performer: emailPerformer(new ManualClock(BEGIN), noLive) });
  const clockId = mintId('clk', BEGIN);
  // Long ago for the machine's clock.
  const past = { outcome: 'delivered', afterDays: 1 } as const;
  const spawn = born(past, clockId);
  await engine.spawn('email', spawn);
  const now = emailSpawn(
    plainInput(BEGIN, { testClockId: clockId, recipients: [{ simulate: 'delivered' }] }),
  );
  await engine.spawn('email', now);
  const clock = new ManualClock(BEGIN + 400 * DAY_MS);
  const later = engineOver(store.database, { clock, performer: emailPerformer(clock, noLive) });
  await later.wakeDue();
  expect((await waking([spawn.id])).map(({ state }) => state)).toEqual(['scheduled']);
  expect((await waking([now.id])).map(({ state }) => state)).toEqual(['sending']);
  await Promise.all([engine.stop(), later.stop()]);
});

test('a passage that ends in the middle of attempts goes on as if it had not', async () => {
  const engine = engineOver(store.database, { performer: emailPerformer(new ManualClock(0), noLive) });
  const lives: readonly Life[] = [
    { outcome: 'expired', afterDays: 0 },
    { outcome: 'opened', afterDays: 1 },
    { outcome: 'deferred', afterDays: 1 },
  ];
  const run = async (stopsAfter: number): Promise<readonly unknown[]> => {
    const clock = { id: mintId('clk', BEGIN), workspaceId: 'ws_test' };
    const spawns = lives.map((life) => born(life, clock.id));
    await Promise.all(spawns.map((spawn) => engine.spawn('email', spawn)));
    const emails = clockedEmails({ database: store.database, engine });
    let from = BEGIN;
    for (let left = stopsAfter; ; left = stopsAfter) {
      const reached = async (at: number) => {
        from = at;
        return left-- > 0;
      };
      if (await pass([emails], clock, { from, to: BEGIN + 10 * DAY_MS, reached })) break;
    }
    return Promise.all(spawns.map(({ id }) => written(id)));
  };
  expect(await run(1)).toEqual((await run(Number.POSITIVE_INFINITY)) as unknown[]);
  await engine.stop();
});

test('an email that is removed while its clock passes holds nothing up', async () => {
  const engine = engineOver(store.database, { performer: emailPerformer(new ManualClock(0), noLive) });
  const clock = { id: mintId('clk', BEGIN), workspaceId: 'ws_test' };
  const [removed, left] = [
    born({ outcome: 'delivered', afterDays: 1 }, clock.id),
    born({ outcome: 'delivered', afterDays: 2 }, clock.id),
  ];
  await Promise.all([removed, left].map((spawn) => engine.spawn('email', spawn)));
  const emails = clockedEmails({ database: store.database, engine });
  let moments = 0;
  const reached = async () => {
    if (++moments === 1)
      for (const table of ['email_due', 'emails'])
        await store.database.query(`delete from ${table} where id = $1`, [removed.id]);
    return moments < 10;
  };
  expect(await pass([emails], clock, { from: BEGIN, to: BEGIN + 3 * DAY_MS, reached })).toBe(true);
  expect((await waking([left.id])).map(({ state }) => state)).toEqual(['delivered']);
  await engine.stop();
});

test('two that move one clock at once record each of its events once', async () => {
  const [one, other] = [0, 0].map(() =>
    engineOver(store.database, { performer: emailPerformer(new ManualClock(0), noLive) }),
  );
  const clock = { id: mintId('clk', BEGIN), workspaceId: 'ws_test' };
  const spawns = SIMULATED_OUTCOMES.map((outcome) => born({ outcome, afterDays: 0 }, clock.id));
  await Promise.all(spawns.map((spawn) => one?.spawn('email', spawn)));
  // Both have read that the attempts are open before either tells what they came to.
  const both = Promise.withResolvers<void>();
  let here = 0;
  const reached = async () => {
    if (++here === 2) both.resolve();
    await both.promise;
    return true;
  };
  const passes = [one, other].map((engine) =>
    pass([clockedEmails({ database: store.database, engine: engine as Engine })], clock, {
      from: BEGIN,
      to: BEGIN,
      reached,
    }),
  );
  expect(await Promise.all(passes)).toEqual([true, true]);
  for (const { id } of spawns) {
    const { events } = (await written(id)) as { events: readonly { type: string; recipient: number }[] };
    const named = events.map(({ type, recipient }) => `${type} ${recipient}`);
    expect(named).toEqual([...new Set(named)]);
  }
  await Promise.all([one?.stop(), other?.stop()]);
});

test('what came to a clock while it was deleted is ended', async () => {
  const { database } = store;
  const engine = engineOver(database, { performer: emailPerformer(new ManualClock(0), noLive) });
  const id = mintId('clk', BEGIN);
  const spawns = [0, 1].map((afterDays) => born({ outcome: 'opened', afterDays }, id));
  await Promise.all(spawns.map((spawn) => engine.spawn('email', spawn)));
  const emails = clockedEmails({ database, engine });
  const mover = new ClockMover({ database, logger: pino({ level: 'silent' }), clocked: () => [emails] });
  await mover.move({ workspace_id: 'ws_test', id });
  const states = await Promise.all(spawns.map(async (spawn) => (await waking([spawn.id]))[0]?.state));
  expect(states).toEqual(['delivered', 'cancelled']);
  await mover.stop();
  await engine.stop();
});
