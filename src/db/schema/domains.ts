import { boolean, integer, json, pgTable, smallint, text, timestamp } from 'drizzle-orm/pg-core';

/** Actors: the domains that live email is sent from. */
export const domains = pgTable('domains', {
  id: text('id').primaryKey(),
  workspaceId: text('workspace_id').notNull(),
  livemode: boolean('livemode').notNull(),
  state: text('state').notNull(),
  context: json('context').notNull(),
  revision: integer('revision').notNull(),
  machineVersion: smallint('machine_version').notNull(),
  timers: json('timers'),
  wakeAt: timestamp('wake_at', { withTimezone: true, mode: 'date' }),
  name: text('name').notNull(),
  dkimSelector: text('dkim_selector').notNull(),
  rsaValue: text('rsa_value').notNull(),
  ed25519Value: text('ed25519_value').notNull(),
  returnPath: text('return_path').notNull(),
  trackingDomain: text('tracking_domain'),
});
