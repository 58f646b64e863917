import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { EmailEvent } from '../../machines/email/context.ts';
import { Findings } from '../../src/engine/audit/findings.ts';
import { mintId } from '../../src/platform/db/ids.ts';
import { PostgresDatabase } from '../../src/platform/db/server/postgres.ts';
import { Failure } from '../../src/platform/errors/failure.ts';
import { auditAnalytics } from '../../src/sending/analytics/audit.ts';
import type { Analytics } from '../../src/sending/analytics/model.ts';
import { analyticsRollUp } from '../../src/sending/analytics/roll-up.ts';
import { ask, compare, compareHistory } from '../support/compared-analytics.ts';
import {
  accepted,
  countOf,
  emailSpawn,
  engineOver,
  LIVE,
  ManualClock,
  plainInput,
  WORKSPACE,
} from '../support/engine.ts';
import { eventually } from '../support/eventually.ts';
import { onEachStore, type SharedStore } from '../support/shared-store.ts';

// The same with 100,000 events: bun tests/bench/analytics-history.ts

/** The scopes whose hours are not what their quarters add up to. */
async function unequalHours({ database }: SharedStore): Promise<readonly string[]> {
  const findings = new Findings();
  const session = { query: database.query.bind(database), close: async () => {} };
  await auditAnalytics({
    session,
    findings,
    now: 0,
    since: 0,
    removed: { test: 0, live: 0 },
    served: false,
    bodies: null,
  });
  expect(findings.lookedAt('analytics')).toBeGreaterThan(100);
  return findings.named.map(({ id, what }) => `${id}: ${what}`);
}

onEachStore('analytics', (store) => {
  let other: PostgresDatabase | null = null;
  beforeAll(() => {
    if (store.url !== null) other = new PostgresDatabase(store.url);
  });
  afterAll(() => other?.close());

  test('equal a count over the events, before, while and after they are added up, and when these are gone', async () => {
    const instances = other ? [store.database, other] : [store.database];
    const history = { workspaceId: 'ws_history', events: 1_000, seed: 7, checks: 2 };
    const emails = await compareHistory(store, instances, history);
    expect(emails.some(({ revision }) => revision > 3)).toBe(true);
    for (const table of ['emails', 'email_turns']) await store.database.query(`delete from ${table}`);
    await compare(store, 'ws_history', emails);
    // Nothing is added up twice.
    await analyticsRollUp({ database: store.database }).run();
    await compare(store, 'ws_history', emails);
    expect(await countOf(store.database, `analytics where scope = 'cmp_a #b:2'`)).toBeGreaterThan(0);
    expect(await unequalHours(store)).toEqual([]);
    // The hours are what answers are read from, so one that lacks something has to be found.
    await store.database.query(
      `update analytics_hours set opened = opened + 1 where (scope, hour) = (select scope, min(hour) from analytics_hours where scope = 'dom_a #a:1' group by scope)`,
    );
    expect(await unequalHours(store)).toEqual([
      'ws_history dom_a #a:1: 1 hours are not the sum of their quarters',
    ]);
    await store.database.query(`delete from analytics where scope = 'cmp_a #b:2'`);
    expect(await unequalHours(store)).toHaveLength(2);
  });

  test('count an email from the commit that accepts it, and what happens to it', async () => {
    await store.database.query(
      `insert into workspaces (id, name, plan, created_at) values ($1, 'e', 'free', now())`,
      [WORKSPACE],
    );
    const at = Date.parse('2026-03-29T01:30:00Z');
    const engine = engineOver(store.database, { clock: new ManualClock(at) });
    const input = (livemode: boolean) => plainInput(at, { livemode });
    const live = emailSpawn(input(true), LIVE);
    await engine.spawn('email', live);
    await engine.spawn('email', emailSpawn(input(false)));
    expect((await ask(store, WORKSPACE, {})).totals).toMatchObject({ accepted: 1, sent: 0 });
    await engine.tell('email', live.id, { type: 'attempt.begun', at, attempt: 1, by: 'ins_1' });
    await engine.tell('email', live.id, { ...accepted(at), by: 'ins_1' } as EmailEvent);
    expect((await ask(store, WORKSPACE, {})).totals).toMatchObject({ accepted: 1, sent: 1 });
    await analyticsRollUp(store).run();
    expect((await ask(store, WORKSPACE, {})).totals).toMatchObject({ accepted: 1, sent: 1 });
  });

  test('count the first hundred tags of a name, and say so of the others', async () => {
    const at = Date.parse('2026-03-29T01:30:00Z');
    await store.database.query(
      `insert into workspaces (id, name, plan, created_at) values ('ws_tags', 't', 'free', now())`,
    );
    const orders = Array.from({ length: 101 }, (_, n) => `order:${n}`);
    for (const tags of [orders, ['news:spring', 'order-x:1']])
      await store.database.query(
        `insert into emails (id, workspace_id, livemode, state, context, machine_version, commit_tag, steps, at, recipients,
           recipient_keys, sender_key, subject, tags, envelope, content, position)
         values ($1, 'ws_tags', true, 'sending', '{}', 1, 0, '[]', $2::text::timestamptz, '{a@x.co}', '{}', 'x@y.co', 's',
           $3::text[], '{}', '', (select event_position()))`,
        [mintId('em', at), new Date(at).toISOString(), tags],
      );
    // Other tests may hold transactions open on the same server, before whose end nothing is added up.
    await eventually('every tag is counted', async () => {
      await analyticsRollUp(store).run();
      return (await countOf(store.database, `analytics where workspace_id = 'ws_tags'`)) >= 103 || undefined;
    });
    const accepted = async (tag: string) => {
      const answer: Analytics | Failure = await ask(store, 'ws_tags', { tag });
      return answer instanceof Failure ? answer.extra.details?.[0]?.path : answer.totals.accepted;
    };
    // All of the workspace, two other tags, and a hundred orders: the last one in the order of the database
    // is left out.
    expect(await countOf(store.database, `analytics where workspace_id = 'ws_tags'`)).toBe(103);
    const told = await Promise.all(
      ['order:1', 'order:98', 'order:99', 'order:new', 'order-x:1', 'news:spring', 'new:1'].map(accepted),
    );
    expect(told).toEqual([1, 1, '/query/tag', '/query/tag', 1, 1, 0]);
  });

  test('are those of one workspace, and of live mail alone', async () => {
    const none = { accepted: 0, sent: 0, opened: 0 };
    await store.database.query(
      `insert into workspaces (id, name, plan, created_at) values ('ws_other', 'o', 'free', now())`,
    );
    expect((await ask(store, 'ws_other', {})).totals).toMatchObject(none);
    expect((await ask(store, 'ws_history', {}, false)).totals).toMatchObject(none);
    const answer = await ask(store, 'ws_history', { timeZone: 'asia/calcutta' });
    expect(answer.totals.accepted).toBeGreaterThan(0);
    expect(answer.rates.delivered).toBeLessThan(1);
  });

  test('take a period in days or instants, of at most 400 points', async () => {
    const hours = { interval: 'hour', from: '2026-01-01T00:00:00Z' } as const;
    expect((await ask(store, 'ws_history', { ...hours, to: '2026-01-17T16:00:00Z' })).series).toHaveLength(
      400,
    );
    const whole = await ask(store, 'ws_history', { from: '2025-03-04', to: '2026-04-08', timeZone: 'UTC' });
    expect(whole.series).toHaveLength(400);
    expect(whole.series.at(-1)).toMatchObject({ start: '2026-04-07T00:00:00.000Z', open: false });
    const refused = [
      { ...hours, to: '2026-01-17T16:01:00Z' },
      { from: '2025-03-03', to: '2026-04-08' },
      { from: '2026-02-30' },
      { from: '1999-12-31' },
      { from: '2026-01-01T00:00:00' },
      { to: '2026-03-25' },
      { timeZone: 'Mars/Base' },
      { timeZone: '+01:07' },
    ];
    for (const query of refused) {
      const answer = await ask(store, 'ws_history', query);
      expect([query, answer instanceof Failure ? answer.code : answer] as unknown).toEqual([
        query,
        'VALIDATION_ERROR',
      ]);
    }
    // Without a beginning it is the last thirty days, or 24 hours.
    const none = { from: undefined, to: undefined, timeZone: 'UTC' };
    const [days, day] = [
      await ask(store, 'ws_history', none),
      await ask(store, 'ws_history', { ...none, interval: 'hour' }),
    ];
    expect([days.from, days.to, days.series.length]).toEqual([
      '2026-03-09T00:00:00.000Z',
      '2026-04-08T00:00:00.000Z',
      30,
    ]);
    expect([day.from, day.to, day.series.length]).toEqual([
      '2026-04-07T00:00:00.000Z',
      '2026-04-08T00:00:00.000Z',
      24,
    ]);
    // A period that is not over says so, and an instant counts from the beginning of its quarter of an hour.
    const open = await ask(store, 'ws_history', {
      from: '2026-04-07T23:07:00Z',
      to: '2026-04-09',
      timeZone: 'UTC',
    });
    expect(open.from).toBe('2026-04-07T23:00:00.000Z');
    expect(open.series.map((point) => point.open)).toEqual([false, true]);
  });
});
