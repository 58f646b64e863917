import { sql } from 'drizzle-orm';
import { index, integer, json, pgTable, smallint, text } from 'drizzle-orm/pg-core';
import { actorColumns, journal, keyOf, moment, oneOf, refersTo, textC } from './columns.ts';
import { workspaces } from './workspaces.ts';

/** Actors: the URLs that receive events. Deleted ones stay until their deliveries are gone. */
export const webhookEndpoints = pgTable(
  'webhook_endpoints',
  {
    ...actorColumns(['active', 'disabled', 'deleted']),
    events: text('events').array().notNull(),
  },
  (t) => [
    refersTo(t.workspaceId, workspaces.id),
    oneOf(t.state),
    // A commit of email events reads it: a probe that finds nothing where there are no endpoints.
    index('webhook_endpoints_by_workspace')
      .on(t.workspaceId, t.livemode, t.id.desc().nullsFirst())
      .where(sql`${t.state} <> 'deleted'`),
  ],
);

export const webhookEndpointJournal = journal('webhook_endpoint_journal');

/** Sealed secrets, apart from the endpoint, so that a rotation is one row and a snapshot holds no secret. */
export const webhookSecrets = pgTable('webhook_secrets', {
  webhookId: textC('webhook_id').primaryKey(),
  sealed: text('sealed').notNull(),
  prefix: text('prefix').notNull(),
});

/**
 * Actors: one event on its way to one endpoint. `event` is set only where the event is in no log (a test).
 */
export const webhookDeliveries = pgTable(
  'webhook_deliveries',
  {
    ...actorColumns(['queued', 'posting', 'scheduled', 'success', 'failed']),
    webhookId: textC('webhook_id').notNull(),
    eventId: textC('event_id').notNull(),
    eventType: text('event_type').notNull(),
    emailId: textC('email_id').notNull(),
    event: json('event'),
    testClockId: textC('test_clock_id'),
    /**
     * The instance that makes the first attempt at once. Until then `wake_at` is null, so that the row is
     * not among the due ones. The outcome then changes no indexed column, and the row stays in its page
     * while there is room.
     */
    keptBy: integer('kept_by'),
  },
  (t) => [
    oneOf(t.state),
    index('webhook_deliveries_by_endpoint').on(t.webhookId, t.id.desc().nullsFirst()),
    // The scheduler reads it, and it finds the deliveries that stop with their endpoint.
    index('webhook_deliveries_by_wake_at')
      .on(t.wakeAt, t.webhookId, t.id)
      .where(sql`${t.wakeAt} is not null`),
    index('webhook_deliveries_of_test_clocks')
      .on(t.testClockId, t.id)
      .where(sql`${t.testClockId} is not null`),
  ],
);

export const webhookDeliveryJournal = journal('webhook_delivery_journal');

/** The outcome of each attempt; written once. */
export const webhookAttempts = pgTable(
  'webhook_attempts',
  {
    deliveryId: textC('delivery_id').notNull(),
    attempt: integer('attempt').notNull(),
    attemptedAt: moment('attempted_at').notNull(),
    httpStatus: smallint('http_status').notNull(),
    responseBody: text('response_body').notNull(),
    durationMs: integer('duration_ms').notNull(),
    error: text('error'),
  },
  (t) => [keyOf(t.deliveryId, t.attempt)],
);
