import { expect, test } from 'bun:test';
import postgres from 'postgres';
import { openSession } from '../../src/engine/audit/session.ts';
import { auditLedger } from '../../src/ops/audit/audit.ts';
import { createClient } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { insisting } from '../support/insistent.ts';
import { createTestDatabase } from '../support/postgres.ts';
import { startService, TEST_KEY } from '../support/service.ts';

const FROZEN = '2026-12-01T09:00:00.000Z';
const FATES = ['expired', 'opened', 'deferred', 'clicked', 'bounced', 'expired'] as const;
/** When each of them is due, in minutes: the second attempts of the first ones come between. */
const minute = (index: number): string => new Date(Date.parse(FROZEN) + (index + 1) * 60_000).toISOString();

test('an advance that is killed goes on, and leaves what it would have left', async () => {
  await using made = await createTestDatabase();
  const sql = postgres(made.url, { max: 2, onnotice: () => {} });
  const env = { DATABASE_URL: made.url, SECRET_KEY: 'only-for-tests-only-for-tests-only' };
  try {
    const first = await startService({ env });
    let at = createClient(first.url, TEST_KEY);
    const post = async (path: string, body: unknown) => {
      const reply = await at.post(path, body);
      expect([path, reply.status < 300, reply.body]).toEqual([path, true, expect.anything()]);
      return reply.body.data;
    };
    const aMonth = async (): Promise<{ clock: string; ids: readonly string[] }> => {
      const clock = (await post('/v1/test-clocks', { name: 'Killed', startAt: FROZEN })).id;
      const ids: string[] = [];
      for (const [index, fate] of FATES.entries()) {
        const to = `${fate}@simulator.svc.test`;
        const when = { scheduledAt: minute(index), testClockId: clock };
        ids.push(
          (await post('/v1/emails', { from: 'a@acme.example', to, subject: 's', text: 'x', ...when })).id,
        );
      }
      return { clock, ids };
    };
    const lookedAt = async (clock: string) => (await at.get(`/v1/test-clocks/${clock}`)).body.data;
    const advance = (clock: string) =>
      post(`/v1/test-clocks/${clock}/advance`, { by: { amount: 4, unit: 'weeks' } });
    const ready = (clock: string) =>
      eventually('the clock is ready', async () => {
        const found = await lookedAt(clock);
        return found.status === 'ready' ? found : undefined;
      });

    const killed = await aMonth();
    // The result for the fourth email cannot be written: the advance stops there, and dies.
    const held = await sql.reserve();
    await held`begin`;
    await held`select id from email_due where id = ${killed.ids[3] ?? ''} for update`;
    const cut = advance(killed.clock).catch(() => 'cut');
    await eventually('the advance waits for the fourth email', async () => {
      const blocked = await sql`select pid from pg_stat_activity
        where datname = current_database() and cardinality(pg_blocking_pids(pid)) > 0`;
      return blocked.length > 0 ? true : undefined;
    });
    await first.kill();
    expect(await cut).toBe('cut');
    await held`rollback`;
    held.release();
    expect((await sql`select status from test_clocks`)[0]).toMatchObject({ status: 'advancing' });

    await using second = await startService({ env });
    at = createClient(second.url, TEST_KEY);
    const month = new Date(Date.parse(FROZEN) + 28 * 86_400_000).toISOString();
    expect(await ready(killed.clock)).toMatchObject({ now: month });

    const whole = await aMonth();
    await advance(whole.clock);
    await ready(whole.clock);
    const written = async (id: string, clock: string): Promise<unknown> => {
      const steps = await sql`select steps from email_journal where actor_id = ${id} order by revision`;
      const events =
        await sql`select type, occurred_at, data from email_events where email_id = ${id} order by id`;
      const [email] =
        await sql`select state, context::jsonb - 'acceptedAt' as context from emails_now where id = ${id}`;
      const text = JSON.stringify({ email, steps: steps.flatMap((row) => row.steps), events });
      return JSON.parse(text.replaceAll(id, 'em_').replaceAll(clock, 'clk_'));
    };
    for (const [index, fate] of FATES.entries())
      expect([fate, await written(killed.ids[index] ?? '', killed.clock)]).toEqual([
        fate,
        await written(whole.ids[index] ?? '', whole.clock),
      ]);
    await first[Symbol.asyncDispose]();
  } finally {
    await sql.end();
  }
});

test('a flow whose advance is killed goes on, each step and each email once', async () => {
  await using made = await createTestDatabase();
  const sql = postgres(made.url, { max: 2, onnotice: () => {} });
  const env = { DATABASE_URL: made.url, SECRET_KEY: 'only-for-tests-only-for-tests-only' };
  try {
    const first = await startService({ env });
    let at = createClient(first.url, TEST_KEY);
    const post = async (path: string, body: unknown, client = insisting(at)) => {
      const reply = await client.post(path, body);
      expect([path, reply.status < 300, reply.body]).toEqual([path, true, expect.anything()]);
      return reply.body.data;
    };
    const template = { name: 'Hello', subject: 'Hello', html: '<p>x</p>', from: 'a@acme.example' };
    const templateId = (await post('/v1/templates', template)).id;
    const send = (key: string) => ({ key, type: 'sendEmail', config: { templateId } });
    const rest = (key: string) => ({ key, type: 'delay', config: { amount: 3, unit: 'days' } });
    const keys = ['a', 'b', 'c', 'd', 'e'];
    const flow = await post('/v1/flows', {
      name: 'Killed',
      trigger: { type: 'manual' },
      entry: 'a',
      steps: [send('a'), rest('b'), send('c'), rest('d'), send('e')],
      edges: keys.slice(1).map((to, place) => ({ from: keys[place], to, when: 'default' })),
    });
    // Only a member activates a flow of the test environment, and there is none.
    await sql`update flows set status = 'active', published_version = version, trigger_type = 'manual' where id = ${flow.id}`;
    const aRun = async (startAt: string): Promise<{ clock: string; run: string }> => {
      const clock = (await post('/v1/test-clocks', { startAt })).id;
      const joined = { 'x-svc-test-clock': clock };
      // Each of its emails is put off for three days.
      const email = `expired+${clock}@simulator.svc.test`;
      const client = insisting(at);
      const contact = await client.post('/v1/contacts', { email }, joined);
      const run = await client.post(`/v1/flows/${flow.id}/runs`, { contactId: contact.body.data.id }, joined);
      expect(run.status).toBe(201);
      return { clock, run: run.body.data.id };
    };
    const begun = (run: string) =>
      eventually('the first step is done', async () => {
        const found = await sql`select id from flow_runs where id = ${run} and step = 'b'`;
        return found.length > 0 ? true : undefined;
      });
    const advance = (clock: string) =>
      post(`/v1/test-clocks/${clock}/advance`, { by: { amount: 10, unit: 'days' } }, at);
    const ready = (clock: string) =>
      eventually('the clock is ready', async () => {
        const { data } = (await at.get(`/v1/test-clocks/${clock}`)).body;
        return data.status === 'ready' ? data : undefined;
      });

    const killed = await aRun(FROZEN);
    await begun(killed.run);
    // The result for the run cannot be written: the advance stops there, and dies.
    const held = await sql.reserve();
    await held`begin`;
    await held`select id from flow_runs where id = ${killed.run} for update`;
    const cut = advance(killed.clock).catch(() => 'cut');
    await eventually('the advance waits for the run', async () => {
      const blocked = await sql`select pid from pg_stat_activity
        where datname = current_database() and cardinality(pg_blocking_pids(pid)) > 0`;
      return blocked.length > 0 ? true : undefined;
    });
    await first.kill();
    expect(await cut).toBe('cut');
    await held`rollback`;
    held.release();

    await using second = await startService({ env });
    at = createClient(second.url, TEST_KEY);
    await ready(killed.clock);
    const whole = await aRun(FROZEN);
    await begun(whole.run);
    await advance(whole.clock);
    await ready(whole.clock);
    const written = async ({ clock, run }: { clock: string; run: string }): Promise<unknown> => {
      const log =
        await sql`select step, at, outcome, email_id from flow_run_log where run_id = ${run} order by visit`;
      const steps = await sql`select steps from flow_run_journal where actor_id = ${run} order by revision`;
      const emails = await Promise.all(
        log.flatMap(({ email_id: id }) =>
          id === null ? [] : [sql`select steps from email_journal where actor_id = ${id} order by revision`],
        ),
      );
      const all = await sql`select count(*)::integer as n from emails where test_clock_id = ${clock}`;
      const told = log.map(({ step, at: when, outcome }) => ({ step, when, outcome }));
      const flat = emails.map((rows) => rows.flatMap((row) => row.steps));
      return JSON.parse(
        JSON.stringify({ told, steps: steps.flatMap((row) => row.steps), flat, n: all[0]?.n }),
      );
    };
    const left = await written(killed);
    expect(left).toMatchObject({ n: 3 });
    expect(left).toEqual(await written(whole));
    const audited = await openSession({ url: made.url, dataDir: null });
    try {
      const { named } = await auditLedger(audited, Date.now());
      expect(named.map(({ check, id, what }) => `${check}: ${id} ${what}`)).toEqual([]);
    } finally {
      await audited.close();
    }
    await first[Symbol.asyncDispose]();
  } finally {
    await sql.end();
  }
});

test('a service that is killed tells each outcome of a script that is still to come, once', async () => {
  await using made = await createTestDatabase();
  const env = { DATABASE_URL: made.url, SECRET_KEY: 'only-for-tests-only-for-tests-only' };
  const first = await startService({ env });
  const script = 'delivered+1s, opened*2+1s, clicked, complained+1s';
  const body = { from: 'a@acme.example', to: 'b@example.com', subject: 's', text: 'x', simulate: script };
  const before = createClient(first.url, TEST_KEY);
  const { id } = (await before.post('/v1/emails', body)).body.data;
  await eventually('it is taken', async () => {
    const { data } = (await before.get(`/v1/emails/${id}`)).body;
    return data.status === 'sent' || data.status === 'delivered' ? true : undefined;
  });
  await first.kill();
  await using second = await startService({ env });
  const at = createClient(second.url, TEST_KEY);
  const types = await eventually('the script is over', async () => {
    const { data } = (await at.get(`/v1/emails/${id}`)).body;
    return data.lastEvent === 'complained'
      ? data.events.map((event: { type: string }) => event.type)
      : undefined;
  });
  expect(types).toEqual(['sent', 'delivered', 'opened', 'opened', 'clicked', 'complained']);
  await first[Symbol.asyncDispose]();
});
