import { pgTable, text } from 'drizzle-orm/pg-core';
import { actorColumns } from './actor.ts';

/** Actors: the domains that live email is sent from. */
export const domains = pgTable('domains', {
  ...actorColumns,
  name: text('name').notNull(),
  returnPath: text('return_path').notNull(),
  trackingDomain: text('tracking_domain'),
});

/** By which way the mail of a domain leaves, where one has been chosen. */
export const domainTransports = pgTable('domain_transports', {
  domainId: text('domain_id').primaryKey(),
  provider: text('provider'),
});
