import type { WebhookDeliveryInput } from '../../../machines/webhook-delivery.ts';
import type { Offspring } from '../../engine/kind.ts';
import { LEASE_MS, webhookDeliveryKind } from './delivery-kind.ts';
import { DICE, MINTED_DELIVERY_ID } from './minted-id.ts';

/**
 * The deliveries of what a commit has just recorded: one for every active endpoint of the workspace and environment that
 * subscribes to the type. Where there is no endpoint, that is one probe of a small index for each event.
 */
export const fanOut: Offspring = {
  kind: webhookDeliveryKind,
  input: (at): WebhookDeliveryInput => ({ at, leaseMs: LEASE_MS, turnAt: null }),
  sql: (seed) => `insert into webhook_deliveries
    (id, workspace_id, livemode, state, context, timers, wake_at, revision, machine_version,
     webhook_id, event_id, event_type, email_id)
    select ${MINTED_DELIVERY_ID}, d.workspace_id, d.livemode, s.state, s.context, s.timers, s.wake_at, 1, s.machine_version,
      d.webhook_id, d.event_id, d.type, d.email_id
    from (
      select r.workspace_id, r.livemode, r.id as event_id, r.type, r.email_id, w.id as webhook_id, ${DICE}
      from recorded r join webhook_endpoints w
        on w.workspace_id = r.workspace_id and w.livemode = r.livemode and w.state = 'active' and r.type = any(w.events)
    ) d cross join ${seed} s
    returning id, workspace_id, livemode`,
  performedAtOnce: true,
};
