import type { WebhookDeliveryInput } from '../../../../machines/webhook-delivery-context.ts';
import { type ChildSpec, insertActors } from '../../../engine/kind.ts';
import { recorded } from '../../emails/queries.ts';
import { LEASE_MS, webhookDeliveryKind } from './kind.ts';
import { DELIVERY_ID_SQL, RANDOM_BYTES_SQL } from './sql-id.ts';

/**
 * The deliveries of what a commit has just recorded: one for every active endpoint of the workspace and environment that
 * subscribes to the type. Where there is no endpoint, that is one probe of a small index for each event.
 */
export const fanOut: ChildSpec = {
  kind: webhookDeliveryKind,
  input: (at): WebhookDeliveryInput => ({ at, leaseMs: LEASE_MS, turnAt: null }),
  sql: (template) => {
    const r = recorded.as('r');
    return insertActors(
      webhookDeliveryKind,
      template,
      {
        id: DELIVERY_ID_SQL,
        workspace_id: 'd.workspace_id',
        livemode: 'd.livemode',
        webhook_id: 'd.webhook_id',
        event_id: 'd.event_id',
        event_type: 'd.type',
        email_id: 'd.email_id',
      },
      `(
      select ${r.workspace_id}, ${r.livemode}, ${r.id} as event_id, ${r.type}, ${r.email_id}, w.id as webhook_id, ${RANDOM_BYTES_SQL}
      from ${r.from} join webhook_endpoints w on w.workspace_id = ${r.workspace_id} and w.livemode = ${r.livemode}
        and w.state = 'active' and ${r.type} = any(w.events)
    ) d cross join ${template}`,
    );
  },
  performedAtOnce: true,
};
