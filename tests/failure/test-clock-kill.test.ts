import { expect, test } from 'bun:test';
import postgres from 'postgres';
import { createClient } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
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
    // Nobody can write what becomes of the fourth email: there the advance stands still, and dies.
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
