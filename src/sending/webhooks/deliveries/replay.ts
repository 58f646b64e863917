import type { WebhookDeliveryInput } from '../../../../machines/webhook-delivery/context.ts';
import { REPLAY_GAP_MS, type ReplayScope } from '../../../../machines/webhook-endpoint/machine.ts';
import type { ChildSpec } from '../../../engine/machine/kind.ts';
import { insertActors } from '../../../engine/store/actor-columns.ts';
import { sharedFact } from '../../../engine/store/shared-fact.ts';
import type { ShardTerms } from '../../../platform/db/distribution/terms.ts';
import { lowestIdAt } from '../../../platform/db/ids.ts';
import { DELIVERY_ID_SQL, RANDOM_SQL } from './fan-out.ts';
import { LEASE_MS, webhookDeliveryKind } from './kind.ts';

/**
 * The scope of a replay as columns. The ids of events begin with their time, so a range of time is a range of
 * ids.
 */
export const scopeColumns = ({ from, to, types, onlyFailed, most }: ReplayScope) => ({
  low: lowestIdAt('evt', from),
  high: lowestIdAt('evt', to + 1),
  // An event is written no earlier than it happened, and its email is older: this leaves most turns out
  // before they are unfolded. Test clocks know other times, and test mail is few.
  low_at: new Date(from).toISOString(),
  high_email: lowestIdAt('em', to + 1),
  types,
  only_failed: onlyFailed,
  most,
});

/**
 * SQL of the events in the scope `r`, oldest first. The ids of an event's deliveries begin with its time too,
 * so earlier deliveries of it are found in a narrow range of the endpoint's index.
 */
export const eventsInScope = ({
  within,
}: ShardTerms): string => `select e.id, e.type, e.email_id from email_events e
    where e.workspace_id = r.workspace_id${within('email_turns', 'e')} and e.livemode = r.livemode and e.id >= r.low and e.id < r.high
      and (e.written_at >= r.low_at or not r.livemode) and e.email_id < r.high_email
      and e.type = any(r.types)
      and not (r.only_failed and exists (
        select from webhook_deliveries o
        where o.workspace_id = r.workspace_id${within('webhook_deliveries', 'o')} and o.webhook_id = r.actor and o.event_id = e.id and o.state <> 'failed'
          and o.id >= 'dlv_' || substr(e.id, 5, 10) and o.id < 'dlv_' || substr(e.id, 5, 10) || '~'))
    order by e.id limit r.most`;

/** The scopes of requested replays. They are not stored; the deliveries below are made from them. */
export const replayed = sharedFact('replayed', ['actor', 'start_at'], {
  columns:
    'low text, high text, low_at timestamptz, high_email text, types text[], only_failed boolean, most integer, start_at bigint',
  sql: (source) => `select * from ${source} s`,
});

/**
 * The deliveries of a replay. One commit stores them all, each with its own time: the rate is bounded, and a
 * crash loses none.
 */
export const replays: ChildSpec = {
  kind: webhookDeliveryKind,
  fact: replayed.name,
  input: (at): WebhookDeliveryInput => ({ at, leaseMs: LEASE_MS, turnAt: at + REPLAY_GAP_MS }),
  sql: (template, shard) => {
    const r = replayed.as('r');
    const position = `row_number() over (partition by ${r.actor}, ${r.start_at} order by e.id) - 1`;
    return insertActors(
      webhookDeliveryKind,
      template,
      {
        id: DELIVERY_ID_SQL,
        workspace_id: 'd.workspace_id',
        livemode: 'd.livemode',
        context: `(${template}.context::jsonb || jsonb_build_object('turnAt', d.turn_at))::json`,
        timers: `(select json_object_agg(t.name, d.turn_at) from json_object_keys(${template}.timers) t(name))`,
        wake_at: `greatest(to_timestamp(d.turn_at / 1000.0), ${template}.not_before)`,
        webhook_id: 'd.actor',
        event_id: 'd.event_id',
        event_type: 'd.type',
        email_id: 'd.email_id',
      },
      `(
      select ${r.actor}, r.workspace_id, r.livemode, e.id as event_id, e.type, e.email_id, ${RANDOM_SQL},
        ${r.start_at} + ${REPLAY_GAP_MS} * (${position}) as turn_at
      from ${r.from} cross join lateral (${eventsInScope(shard)}) e
    ) d cross join ${template}`,
    );
  },
  performedAtOnce: false,
};
