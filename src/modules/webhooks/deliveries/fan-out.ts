import type { WebhookDeliveryInput } from '../../../../machines/webhook-delivery-context.ts';
import { insertActors } from '../../../engine/actor-columns.ts';
import type { ChildSpec } from '../../../engine/kind.ts';
import { recorded } from '../../emails/queries.ts';
import { LEASE_MS, webhookDeliveryKind } from './kind.ts';

/**
 * SQL of the id of a delivery that a statement makes itself: the time of its event, then 56 random bits, as digits of both
 * hexadecimal numbers and ids. So the deliveries of an event are found by their ids. It reads `d.event_id` and `d.random`.
 */
export const DELIVERY_ID_SQL = `'dlv_' || substr(d.event_id, 5, 10) || right(d.random, 14)`;

/** SQL of those random bits, for a subquery, which evaluates them once for each row: the end of a random UUID has nothing fixed in it. */
export const RANDOM_SQL = `replace(gen_random_uuid()::text, '-', '') as random`;

/**
 * The deliveries of the events that a commit records: one for every active endpoint of the workspace and environment that
 * subscribes to the type. Without an endpoint this costs one probe of a small index for each event.
 */
export const fanOut: ChildSpec = {
  kind: webhookDeliveryKind,
  fact: recorded.name,
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
      select ${r.workspace_id}, ${r.livemode}, ${r.id} as event_id, ${r.type}, ${r.email_id}, w.id as webhook_id, ${RANDOM_SQL}
      from ${r.from} join webhook_endpoints w on w.workspace_id = ${r.workspace_id} and w.livemode = ${r.livemode}
        and w.state = 'active' and ${r.type} = any(w.events)
    ) d cross join ${template}`,
    );
  },
  performedAtOnce: true,
};
