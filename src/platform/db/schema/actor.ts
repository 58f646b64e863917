import { boolean, integer, json, smallint, text, timestamp } from 'drizzle-orm/pg-core';

/** The type of a time in every table. */
export const moment = (name: string) => timestamp(name, { withTimezone: true, mode: 'date' });

/** The columns that every actor's table begins with, which the engine reads and writes. */
export const actorColumns = {
  id: text('id').primaryKey(),
  workspaceId: text('workspace_id').notNull(),
  livemode: boolean('livemode').notNull(),
  state: text('state').notNull(),
  context: json('context').notNull(),
  revision: integer('revision').notNull(),
  machineVersion: smallint('machine_version').notNull(),
  timers: json('timers'),
  wakeAt: moment('wake_at'),
};
