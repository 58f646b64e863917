import pino from 'pino';
import type { Duty } from '../../src/engine/duties/duty.ts';
import { Engine } from '../../src/engine/engine.ts';
import type { Database } from '../../src/platform/db/database.ts';
import { lowestIdAt } from '../../src/platform/db/ids.ts';
import type { Clock } from '../../src/platform/time/clock.ts';
import { deliveryStopper } from '../../src/sending/webhooks/deliveries/delivery-stopper.ts';
import { webhookDeliveries } from '../../src/sending/webhooks/deliveries/kind.ts';
import { idle } from './engine.ts';

/** The duty over a separate engine, as another instance runs it. */
export function stopperOver(database: Database, clock: Clock): Duty {
  const kinds = [webhookDeliveries(idle)];
  const engine = new Engine({ database, clock, logger: pino({ level: 'silent' }), kinds });
  return deliveryStopper({ engine, clock });
}

/** Deliveries that wait for the endpoint. */
export async function waitingFor(database: Database, webhookId: string): Promise<number> {
  const [row] = await database.query<{ n: number }>(
    `select count(*)::integer as n from webhook_deliveries where webhook_id || '' = $1 and wake_at is not null`,
    [webhookId],
  );
  return row?.n ?? 0;
}

/**
 * Has so many more deliveries wait as the one does that waits for the endpoint, history and all; they are due
 * after it.
 */
export async function multiply(database: Database, webhookId: string, more: number): Promise<void> {
  const copied = `'dlv_' || substr(d.id, 5, 10) || lpad(g::text, 14, '0')`;
  const one = `webhook_deliveries d where d.webhook_id = '${webhookId}' and d.wake_at is not null`;
  await database.script(`
    set local statement_timeout = 0;
    create temporary table model on commit drop as select d.* from ${one};
    insert into webhook_delivery_journal select ${copied}, j.revision, j.commit_tag, j.steps
    from model d join webhook_delivery_journal j on j.actor_id = d.id cross join generate_series(1, ${more}) g;
    insert into webhook_deliveries (id, workspace_id, livemode, state, context, revision, machine_version, timers, wake_at,
      webhook_id, event_id, event_type, email_id, event)
    select ${copied}, d.workspace_id, d.livemode, d.state, d.context, d.revision, d.machine_version, d.timers, d.wake_at,
      d.webhook_id, d.event_id, d.event_type, d.email_id, d.event
    from model d cross join generate_series(1, ${more}) g;
  `);
}

/** SQL of ids that count up from the lowest of a moment, by `g`. */
export const idsFrom = (lowest: string) => `'${lowest.slice(0, -14)}' || lpad(g::text, 14, '0')`;

/** SQL of so many deliveries to an endpoint, each with the time at which it is due. */
export const deliveries = (webhookId: string, at: number, count: number, wakeAt: string) => `
  insert into webhook_deliveries (id, workspace_id, livemode, state, context, wake_at, revision, machine_version,
    webhook_id, event_id, event_type, email_id)
  select ${idsFrom(lowestIdAt('dlv', at))}, 'ws_1', true, 'scheduled', '{"attempt":1}',
    ${wakeAt}, 1, 1, '${webhookId}', 'evt', 'sent', 'em' from generate_series(1, ${count}) g;`;
