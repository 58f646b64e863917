import { boolean, integer, json, pgTable, primaryKey, smallint, text, timestamp } from 'drizzle-orm/pg-core';

const moment = (name: string) => timestamp(name, { withTimezone: true, mode: 'date' });

/** Tenants. */
export const workspaces = pgTable('workspaces', {
  id: text('id').primaryKey(),
  name: text('name').notNull(),
  plan: text('plan').notNull(),
  settings: json('settings').notNull(),
  createdAt: moment('created_at').notNull(),
});

/** Actors: who may authenticate. */
export const apiKeys = pgTable('api_keys', {
  id: text('id').primaryKey(),
  workspaceId: text('workspace_id').notNull(),
  livemode: boolean('livemode').notNull(),
  state: text('state').notNull(),
  context: json('context').notNull(),
  revision: integer('revision').notNull(),
  machineVersion: smallint('machine_version').notNull(),
  timers: json('timers'),
  wakeAt: moment('wake_at'),
  name: text('name').notNull(),
  prefix: text('prefix').notNull(),
  hash: text('hash').notNull(),
  lastUsedAt: moment('last_used_at'),
  revokedAt: moment('revoked_at'),
});

/** Units taken from each period's ceiling. */
export const usage = pgTable(
  'usage',
  {
    workspaceId: text('workspace_id').notNull(),
    livemode: boolean('livemode').notNull(),
    period: text('period').notNull(),
    used: integer('used').notNull(),
    wanted: integer('wanted').notNull(),
    granted: integer('granted').notNull(),
    ceiling: integer('ceiling').notNull(),
  },
  (table) => [primaryKey({ columns: [table.workspaceId, table.livemode, table.period] })],
);
