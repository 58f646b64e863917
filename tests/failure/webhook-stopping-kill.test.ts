import { expect, test } from 'bun:test';
import postgres from 'postgres';
import { openSession } from '../../src/engine/audit/session.ts';
import { auditLedger } from '../../src/ops/audit/audit.ts';
import type { Database } from '../../src/platform/db/database.ts';
import { openDatabase } from '../../src/platform/db/open.ts';
import { systemClock } from '../../src/platform/time/clock.ts';
import { createClient } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { createTestDatabase } from '../support/postgres.ts';
import { startService, TEST_KEY } from '../support/service.ts';
import { multiply, stopperOver, waitingFor } from '../support/waiting-deliveries.ts';
import { openReceiver } from '../support/webhook-world.ts';

const DELIVERIES = 20_000;
/** Of those that are left, so many are due when the next process starts. */
const DUE = 500;

const comeDue = (database: Database, webhookId: string) =>
  database.query(
    `update webhook_deliveries d set wake_at = now(),
       timers = (select json_object_agg(name, (extract(epoch from now()) * 1000)::bigint) from json_object_keys(d.timers) name)
     where id in (select id from webhook_deliveries where webhook_id = $1 and wake_at is not null limit ${DUE})`,
    [webhookId],
  );

test('killed while the deliveries of a deleted endpoint are being stopped, it posts none of them and forgets none', async () => {
  await using made = await createTestDatabase();
  using receiver = openReceiver();
  receiver.answer = () => new Response('no', { status: 500 });
  const env = { DATABASE_URL: made.url, SECRET_KEY: 'only-for-tests-only-for-tests-only' };
  const database = await openDatabase({ url: made.url, dataDir: null });
  await using stack = new AsyncDisposableStack();
  try {
    await using before = await startService({ env });
    const client = createClient(before.url, TEST_KEY);
    const endpoint = { url: receiver.url, events: ['delivered'] };
    const { id } = (await client.post('/v1/webhooks', endpoint)).body.data;
    const email = { from: 'a@acme.example', to: 'delivered@simulator.svc.test', subject: 'A', text: 'B' };
    await client.post('/v1/emails', email);
    // Its retries are over soon; the third one is half an hour away.
    const waits = await eventually('a retry is timed', async () => {
      const [row] = (await client.get(`/v1/webhooks/${id}/deliveries`)).body.data;
      return row?.retryCount === 0 && row.nextAttemptAt ? row : undefined;
    });
    await database.query(
      // Timers are whole milliseconds.
      `update webhook_deliveries set wake_at = date_trunc('milliseconds', now()) + interval '1 hour', timers = (
         select json_object_agg(name, (extract(epoch from date_trunc('milliseconds', now())) * 1000 + 3600000)::bigint)
         from json_object_keys(timers) name
       ) where id = $1`,
      [waits.id],
    );
    await multiply(database, id, DELIVERIES - 1);
    const posted = receiver.received.length;

    // Some cannot be stopped, so that the process is not done before it is killed.
    const locker = postgres(made.url, { max: 1, onnotice: () => {} });
    stack.defer(() => locker.end({ timeout: 1 }));
    await locker`begin`;
    await locker`select id from webhook_deliveries where webhook_id = ${id} and wake_at is not null
      order by id desc limit ${2 * DUE} for update`;
    expect((await client.delete(`/v1/webhooks/${id}`)).status).toBe(204);
    await eventually(
      'the first are stopped',
      async () => ((await waitingFor(database, id)) < DELIVERIES ? true : undefined),
      { everyMs: 1 },
    );
    await before.kill();
    await locker`rollback`;
    const left = await waitingFor(database, id);
    expect(left).toBeGreaterThan(DUE);
    expect(left).toBeLessThan(DELIVERIES);
    const session = await openSession({ url: made.url, dataDir: null });
    const findings = await auditLedger(session, Date.now());
    await session.close();
    expect(findings.named).toEqual([]);

    await comeDue(database, id);
    await using _after = await startService({ env });
    await eventually('what was due is refused', async () =>
      (await waitingFor(database, id)) <= left - DUE ? true : undefined,
    );
    await stopperOver(database, systemClock).run();
    expect(await waitingFor(database, id)).toBe(0);
    const ends = await database.query(
      `select state, context->>'stoppedBy' as why, count(*)::integer as n from webhook_deliveries group by 1, 2`,
    );
    expect(ends).toEqual([{ state: 'failed', why: 'endpoint_deleted', n: DELIVERIES }]);
    expect(receiver.received).toHaveLength(posted);
  } finally {
    await database.close();
  }
});
