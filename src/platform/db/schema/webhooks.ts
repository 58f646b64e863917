import { integer, json, pgTable, primaryKey, smallint, text } from 'drizzle-orm/pg-core';
import { actorColumns, moment } from './actor.ts';

/** The webhook endpoints, which are actors. */
export const webhookEndpoints = pgTable('webhook_endpoints', {
  ...actorColumns,
  events: text('events').array().notNull(),
});

/** The sealed secrets of endpoints. */
export const webhookSecrets = pgTable('webhook_secrets', {
  webhookId: text('webhook_id').primaryKey(),
  sealed: text('sealed').notNull(),
  prefix: text('prefix').notNull(),
});

/** The webhook deliveries, which are actors: one event for one endpoint. */
export const webhookDeliveries = pgTable('webhook_deliveries', {
  ...actorColumns,
  webhookId: text('webhook_id').notNull(),
  eventId: text('event_id').notNull(),
  eventType: text('event_type').notNull(),
  emailId: text('email_id').notNull(),
  event: json('event'),
  keptBy: integer('kept_by'),
});

/** The outcome of each attempt that had one. */
export const webhookAttempts = pgTable(
  'webhook_attempts',
  {
    deliveryId: text('delivery_id').notNull(),
    attempt: integer('attempt').notNull(),
    attemptedAt: moment('attempted_at').notNull(),
    httpStatus: smallint('http_status').notNull(),
    responseBody: text('response_body').notNull(),
    durationMs: integer('duration_ms').notNull(),
    error: text('error'),
  },
  (table) => [primaryKey({ columns: [table.deliveryId, table.attempt] })],
);
