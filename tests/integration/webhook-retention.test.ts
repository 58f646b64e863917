import { expect, test } from 'bun:test';
import { LONGEST_RETENTION } from '../../src/platform/config/settings/settings.ts';
import { mintId } from '../../src/platform/db/ids.ts';
import { webhookPruner } from '../../src/sending/webhooks/deliveries/delivery-pruner.ts';
import { openReceiver, openWorld } from '../support/webhook-world.ts';

const DAY = 86_400_000;

test('deliveries go as long after their events as emails are kept, and deleted endpoints after them', async () => {
  await using world = await openWorld();
  using receiver = openReceiver();
  const { database } = world.service;
  const now = Date.now();
  const register = async (client: typeof world.test) =>
    (await client.post('/v1/webhooks', { url: receiver.url, events: ['sent'] })).body.data.id as string;
  const [live, test, gone] = [
    await register(world.live),
    await register(world.test),
    await register(world.test),
  ];

  const given = async (webhookId: string, days: number, wakeAt: string | null = null) => {
    const id = mintId('dlv', now - days * DAY);
    await database.query(
      `insert into webhook_deliveries (id, workspace_id, livemode, state, context, wake_at, revision, machine_version,
         webhook_id, event_id, event_type, email_id)
       values ($1, 'ws', true, 'success', '{}', $3::text::timestamptz, 1, 1, $2, 'evt', 'sent', 'em')`,
      [id, webhookId, wakeAt],
    );
    await database.query(`insert into webhook_attempts values ($1, 1, now(), 200, 'ok', 1, null)`, [id]);
    await database.query(`insert into webhook_delivery_journal values ($1, 1, 1, '[]')`, [id]);
    return id;
  };
  const kept = [await given(live, 89), await given(test, 6), await given(gone, 6)];
  kept.push(await given(live, 95, new Date(now).toISOString()));
  for (let i = 0; i < 3; i += 1) {
    await given(live, 91 + i);
    await given(test, 8 + i);
  }
  await world.test.delete(`/v1/webhooks/${gone}`);

  const left = async (table: string, column: string) =>
    (await database.query<{ id: string }>(`select ${column} as id from ${table} order by 1`)).map(
      ({ id }) => id,
    );
  const runAt = (at: number) =>
    webhookPruner({ database, clock: { now: () => at }, config: LONGEST_RETENTION } as Parameters<
      typeof webhookPruner
    >[0]).run();
  await runAt(now);
  for (const [table, column] of [
    ['webhook_deliveries', 'id'],
    ['webhook_attempts', 'delivery_id'],
    ['webhook_delivery_journal', 'actor_id'],
  ] as const)
    expect(await left(table, column)).toEqual([...kept].sort());
  expect(await left('webhook_endpoints', 'id')).toContain(gone);

  await runAt(now + 2 * DAY);
  expect(await left('webhook_endpoints', 'id')).toEqual([live, test].sort());
  expect(await left('webhook_endpoint_journal', 'distinct actor_id')).toEqual([live, test].sort());
});
