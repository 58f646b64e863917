import type { WebhookDeliveryContext } from '../../../../machines/webhook-delivery/context.ts';
import {
  WEBHOOK_DELIVERY_STATES,
  WEBHOOK_DELIVERY_VERSION,
  webhookDeliveryMachine,
} from '../../../../machines/webhook-delivery/machine.ts';
import type { WebhookEndpointEvent } from '../../../../machines/webhook-endpoint/machine.ts';
import { defineKind, type EffectMeanings, type FactTable } from '../../../engine/machine/kind.ts';
import type { Performer } from '../../../engine/runtime/performers.ts';
import type { Registration } from '../../../engine/runtime/running-kind.ts';

/** The limit of one POST takes a third of the lease; for the rest of it an order may wait for a slot. */
export const LEASE_MS = 30_000;

/** The results of attempts, in a separate table so that a transition does not rewrite replies. */
const attempted: FactTable = {
  name: 'attempted',
  columns: `attempt integer, attempted_at timestamptz, http_status smallint, response_body text, duration_ms integer,
    error text`,
  sql: (
    source,
    { column, value },
  ) => `insert into webhook_attempts (delivery_id, attempt, attempted_at, http_status, response_body, duration_ms, error${column('webhook_attempts')})
    select actor, attempt, attempted_at, http_status, response_body, duration_ms, error${value('webhook_attempts', 's')} from ${source} s`,
};

const effects: EffectMeanings<typeof webhookDeliveryMachine> = {
  post: { order: true },
  record: {
    fact: 'attempted',
    rows: ({ attempt, attemptedAt, httpStatus, responseBody, durationMs, error }) => [
      {
        attempt,
        attempted_at: new Date(attemptedAt).toISOString(),
        http_status: httpStatus,
        response_body: responseBody,
        duration_ms: durationMs,
        error,
      },
    ],
  },
  tell: {
    notify: 'webhookEndpoint',
    to: ({ webhookId, news }) => ({ id: webhookId, event: news satisfies WebhookEndpointEvent }),
  },
};

/** The kind of deliveries: one event for one endpoint. */
export const webhookDeliveryKind = defineKind({
  name: 'webhookDelivery',
  table: 'webhook_deliveries',
  idPrefix: 'dlv',
  machine: webhookDeliveryMachine,
  states: WEBHOOK_DELIVERY_STATES,
  version: WEBHOOK_DELIVERY_VERSION,
  hasOwnTime: (context) => (context as WebhookDeliveryContext).testClockId !== undefined,
  derived: [],
  spawn: {
    columns: 'webhook_id text, event_id text, event_type text, email_id text, event json',
    insertColumns: ['webhook_id', 'event_id', 'event_type', 'email_id', 'event'],
    insertInto: [],
  },
  actorColumnsForFacts: [],
  facts: [attempted],
  children: [],
  journal: 'webhook_delivery_journal',
  keepsChildren: true,
  effects,
});

/** The registration of the kind, with the performer of its attempts. */
export const webhookDeliveries = (performer: Performer): Registration => ({
  kind: webhookDeliveryKind,
  performer,
});
