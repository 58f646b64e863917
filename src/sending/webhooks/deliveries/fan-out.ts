import type { WebhookDeliveryInput } from '../../../../machines/webhook-delivery/context.ts';
import { NEVER } from '../../../engine/machine/draft.ts';
import type { ChildSpec } from '../../../engine/machine/kind.ts';
import { insertActors } from '../../../engine/store/actor-columns.ts';
import { recorded, recordedOnClock } from '../../emails/queries.ts';
import { LEASE_MS, webhookDeliveryKind } from './kind.ts';
import { SUBJECT_SQL } from './reader.ts';

/**
 * SQL of the id of a delivery that a statement makes itself: the time of its event, then 56 random bits, as
 * digits of both hexadecimal numbers and ids. So the deliveries of an event are found by their ids. It reads
 * `d.event_id` and `d.random`.
 */
export const DELIVERY_ID_SQL = `'dlv_' || substr(d.event_id, 5, 10) || right(d.random, 14)`;

/** The lowest id that a delivery of an event may have. */
const lowestDeliveryId = (eventId: string): string => `dlv_${eventId.slice(4, 14)}`;

/**
 * SQL of those random bits, for a subquery, which evaluates them once for each row: the end of a random UUID
 * has nothing fixed in it.
 */
export const RANDOM_SQL = `replace(gen_random_uuid()::text, '-', '') as random`;

/** Every active endpoint of the workspace and environment that subscribes to the type of an event. */
const wanted = (r: ReturnType<typeof recorded.as>, further: string): string => `(
      select ${r.workspace_id}, ${r.livemode}, ${r.id} as event_id, ${r.type}, ${r.email_id}, w.id as webhook_id, ${RANDOM_SQL}${further}
      from ${r.from} join webhook_endpoints w on w.workspace_id = ${r.workspace_id} and w.livemode = ${r.livemode}
        and w.state = 'active' and ${r.type} = any(w.events)`;

const listens = (topic: string): string =>
  `exists (select from webhook_endpoints w where w.workspace_id = ${topic}.workspace_id and w.livemode = ${topic}.livemode
      and w.state = 'active' and ${topic}.about = any(w.events))`;

const COLUMNS = {
  id: DELIVERY_ID_SQL,
  workspace_id: 'd.workspace_id',
  livemode: 'd.livemode',
  webhook_id: 'd.webhook_id',
  event_id: 'd.event_id',
  event_type: 'd.type',
  email_id: 'd.email_id',
} as const;

const input = (at: number): WebhookDeliveryInput => ({ at, leaseMs: LEASE_MS, turnAt: null });

/**
 * The deliveries of the events that a commit records: one for every endpoint that wants it. Without an
 * endpoint this costs one probe of a small index for each event.
 */
export const fanOut: ChildSpec = {
  kind: webhookDeliveryKind,
  fact: recorded.name,
  listens,
  input,
  sql: (template) => {
    const r = recorded.as('r');
    const from = `${wanted(r, '')} where ${r.test_clock_id} is null\n    ) d cross join ${template}`;
    const columns = { ...COLUMNS, kept_by: `${template}.kept_by` };
    return insertActors(webhookDeliveryKind, template, columns, from, SUBJECT_SQL);
  },
  lowestId: ({ id }) => lowestDeliveryId(id as string),
  performedAtOnce: true,
  brings: true,
};

/**
 * The same for events on a test clock, which also makes their attempts: they wait at a moment that never
 * comes.
 */
export const clockedFanOut: ChildSpec = {
  kind: webhookDeliveryKind,
  fact: recordedOnClock.name,
  reads: recorded.name,
  listens,
  input,
  sql: (template) => {
    const r = recorded.as('r');
    const at = `(extract(epoch from ${r.occurred_at}) * 1000)::bigint`;
    const from = `${wanted(r, `, ${r.test_clock_id}, ${at} as at`)} where ${r.test_clock_id} is not null
    ) d cross join ${template}`;
    return insertActors(
      webhookDeliveryKind,
      template,
      {
        ...COLUMNS,
        context: `(${template}.context::jsonb || jsonb_build_object('testClockId', d.test_clock_id, 'at', d.at))::json`,
        timers: `(select json_object_agg(t.name, d.at + ${LEASE_MS}) from json_object_keys(${template}.timers) t(name))`,
        wake_at: `'${NEVER}'::timestamptz`,
        test_clock_id: 'd.test_clock_id',
      },
      from,
    );
  },
  performedAtOnce: false,
};
