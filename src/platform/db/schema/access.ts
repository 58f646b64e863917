import { boolean, integer, pgTable, pgView, primaryKey, text } from 'drizzle-orm/pg-core';
import { actorColumns, moment } from './actor.ts';

/** The workspaces, which are the tenants. */
export const workspaces = pgTable('workspaces', {
  id: text('id').primaryKey(),
  name: text('name').notNull(),
  plan: text('plan').notNull(),
  defaultFrom: text('default_from'),
  defaultReplyTo: text('default_reply_to'),
  logo: text('logo'),
  colour: text('colour'),
  address: text('address'),
  website: text('website'),
  timeZone: text('time_zone').notNull(),
  mutedEmails: text('muted_emails').array().notNull(),
  createdAt: moment('created_at').notNull(),
  updatedAt: moment('updated_at'),
  archivedAt: moment('archived_at'),
  eraseAt: moment('erase_at'),
});

/** The API keys, which are actors. */
export const apiKeys = pgTable('api_keys', {
  ...actorColumns,
  name: text('name').notNull(),
  prefix: text('prefix').notNull(),
  hash: text('hash').notNull(),
  createdBy: text('created_by'),
  lastUsedAt: moment('last_used_at'),
  revokedAt: moment('revoked_at'),
});

/** The units that were taken in each period. */
export const usage = pgTable(
  'usage',
  {
    workspaceId: text('workspace_id').notNull(),
    livemode: boolean('livemode').notNull(),
    period: text('period').notNull(),
    used: integer('used').notNull(),
    wanted: integer('wanted').notNull(),
    granted: integer('granted').notNull(),
    quota: integer('quota').notNull(),
  },
  (table) => [primaryKey({ columns: [table.workspaceId, table.livemode, table.period] })],
);

/** The units that were taken in each period, with the entries that are not added up yet. */
export const usageTotals = pgView('usage_totals', {
  workspaceId: text('workspace_id').notNull(),
  livemode: boolean('livemode').notNull(),
  period: text('period').notNull(),
  used: integer('used').notNull(),
}).existing();
