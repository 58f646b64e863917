import { json, pgTable, text } from 'drizzle-orm/pg-core';
import { actorColumns } from './actor.ts';

/** The domains that live email is sent from, which are actors. */
export const domains = pgTable('domains', {
  ...actorColumns,
  name: text('name').notNull(),
  returnPath: text('return_path').notNull(),
  trackingDomain: text('tracking_domain'),
});

/** The transport that was chosen for a domain. */
export const domainTransports = pgTable('domain_transports', {
  domainId: text('domain_id').primaryKey(),
  provider: text('provider'),
  /** The transports that take over while that one is down, in this order. */
  fallbacks: text('fallbacks').array().notNull().default([]),
  /** One entry for each transport on which the domain is warmed up. */
  warmUps: json('warm_ups').notNull().default([]),
});
