import type { WebhookDeliveryInput } from '../../../../machines/webhook-delivery-context.ts';
import { ID_ALPHABET } from '../../../db/ids.ts';
import { insertActors } from '../../../engine/actor-columns.ts';
import type { ChildSpec } from '../../../engine/kind.ts';
import { recorded } from '../../emails/queries.ts';
import { LEASE_MS, webhookDeliveryKind } from './kind.ts';

/** The bytes of a random UUID, except the two that hold its version and its variant. */
const RANDOM_BYTES = [0, 1, 2, 3, 4, 5, 7, 9, 10, 11, 12, 13, 14, 15] as const;

const character = (byte: number): string =>
  `substr('${ID_ALPHABET}', (get_byte(d.random_bytes, ${byte}) & 31) + 1, 1)`;

/**
 * SQL of the id of a delivery that a statement makes itself: the time of its event, then 70 random bits. So the deliveries of
 * an event are found by their ids. It reads `d.event_id` and `d.random_bytes`.
 */
export const DELIVERY_ID_SQL = `'dlv_' || substr(d.event_id, 5, 10) || ${RANDOM_BYTES.map(character).join(' || ')}`;

/** SQL of those random bytes, for a subquery, which evaluates them once for each row. */
export const RANDOM_BYTES_SQL = 'uuid_send(gen_random_uuid()) as random_bytes';

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
      select ${r.workspace_id}, ${r.livemode}, ${r.id} as event_id, ${r.type}, ${r.email_id}, w.id as webhook_id, ${RANDOM_BYTES_SQL}
      from ${r.from} join webhook_endpoints w on w.workspace_id = ${r.workspace_id} and w.livemode = ${r.livemode}
        and w.state = 'active' and ${r.type} = any(w.events)
    ) d cross join ${template}`,
    );
  },
  performedAtOnce: true,
};
